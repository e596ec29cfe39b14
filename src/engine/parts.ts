import { withDeadline } from '../async/clock.ts';
import { type Coroutine, wait } from '../async/coroutine.ts';
import { loadFailed } from '../errors/errors.ts';
import type { PartName } from '../protocol/parts.ts';

/**
 * What an engine does beyond opening, inserting, finding, updating, saving, live queries and
 * indexes: few sessions need all of it, and loading code is most of the time that a worker takes to
 * start. The build makes a file of each.
 */
const CODE = {
  aggregation: () => import('./aggregation/part.ts'),
  backups: () => import('./backups/part.ts'),
  expressions: () => import('../query/expressions/part.ts'),
  relations: () => import('./relations/part.ts'),
  replication: () => import('./replication/replica-requests.ts'),
  search: () => import('./search/part.ts'),
  transactions: () => import('./transactions/session-transactions.ts'),
  updates: () => import('./update/part.ts'),
  upkeep: () => import('./upkeep/part.ts'),
  vectors: () => import('./vectors/part.ts'),
} satisfies Record<PartName, () => Promise<unknown>>;

export type PartCode = { [Name in PartName]: Awaited<ReturnType<(typeof CODE)[Name]>> };

/** A request for a file that is neither answered nor refused in this time counts as lost. */
const DEADLINE_MS = 20_000;

/** The parts that this thread has loaded. docs/decisions/048-parts.md has the reasons. */
class Parts {
  readonly #code: Partial<PartCode> = {};
  readonly #loading = new Map<PartName, Promise<unknown>>();

  /** The names of those that are there. */
  loaded: readonly PartName[] = [];

  /** Makes a part known that was loaded with this thread's other code. */
  add<Name extends PartName>(name: Name, code: PartCode[Name]): void {
    this.#code[name] = code;
    this.loaded = Object.keys(this.#code) as PartName[];
  }

  has(name: PartName): boolean {
    return name in this.#code;
  }

  /** Whether a part is there, or on its way. */
  isWanted(name: PartName): boolean {
    return name in this.#code || this.#loading.has(name);
  }

  /** The code of a part, which has to be waited for where it is not there. */
  *need<Name extends PartName>(name: Name): Coroutine<PartCode[Name]> {
    return this.#code[name] ?? (yield* wait(this.load(name)));
  }

  /**
   * Loads a part, once. Requests share a load; one that fails is not kept, so that the next tries
   * again.
   *
   * @throws {CairnError} `load_failed`
   */
  async load<Name extends PartName>(name: Name): Promise<PartCode[Name]> {
    const code = this.#code[name];
    if (code) return code;
    const begun = this.#loading.get(name) ?? this.#begin(name);
    this.#loading.set(name, begun);
    return begun as Promise<PartCode[Name]>;
  }

  async #begin<Name extends PartName>(name: Name): Promise<PartCode[Name]> {
    try {
      const code = await inTime(name, CODE[name]() as Promise<PartCode[Name]>);
      this.add(name, code);
      return code;
    } finally {
      this.#loading.delete(name);
    }
  }
}

/**
 * The code of a part that is being loaded.
 *
 * @throws {CairnError} `load_failed`, also where it does not come in time
 */
export function inTime<Code>(name: string, loading: Promise<Code>): Promise<Code> {
  const late = () => new Error(`"${name}" is too late`);
  return withDeadline(loading, DEADLINE_MS, late).catch(loadFailed);
}

/** Shared by the engines of a thread: a part is code. */
export const parts = new Parts();
