import { expect } from 'vitest';
import type { Store, StoreRow } from '../../src/server/index.ts';
import { fc } from '../setup/properties.ts';
import { Oracle } from './oracle.ts';

/** How a model gets a store without documents, and copies one as the restore of a backup does. */
export interface ModelSubject {
  open(): Promise<Store>;
  copy(store: Store): Promise<Store>;
}

/** Which version a row claims to derive from. */
const bases = fc.oneof(
  { weight: 5, arbitrary: fc.constant('newest') },
  fc.constantFrom('none', 'older', 'foreign', 'absent'),
);

const row = fc.record({
  id: fc.constantFrom('a', 'b', 'c', "d'; --", 'é\u{1F600}'),
  base: bases,
  value: fc.oneof({ weight: 3, arbitrary: fc.nat(9) }, fc.constantFrom('deleted', 'large')),
  seen: fc.option(fc.constantFrom('newest', 'older'), { freq: 3, nil: undefined }),
});

type Row = typeof row extends fc.Arbitrary<infer Each> ? Each : never;

type Step =
  | { readonly kind: 'push'; readonly rows: readonly Row[] }
  | { readonly kind: 'again'; readonly back: number }
  | { readonly kind: 'page'; readonly reader: number; readonly limit: number }
  | { readonly kind: 'pull'; readonly reader: number; readonly limit: number }
  | { readonly kind: 'backup' | 'restore' };

const reader = fc.nat(1);
const limit = fc.integer({ min: 1, max: 4 });

export const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('push' as const), rows: rowsOf(3) }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('again' as const), back: fc.nat(4) }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('page' as const), reader, limit }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('pull' as const), reader, limit }) },
    fc.record({ kind: fc.constantFrom('backup' as const, 'restore' as const) }),
  ),
  { maxLength: 40, size: 'max' },
);

function rowsOf(maxLength: number) {
  return fc.array(row, { minLength: 1, maxLength });
}

const LARGE = 'x'.repeat(400_000);

/** A client that only pulls. */
interface Reader {
  after: string | undefined;
  /** By id, as they came. */
  held: Map<string, object>;
  /** The history that its checkpoint belongs to. */
  history: number;
}

/** Runs a script over a store and the oracle; throws where they differ. */
export async function runModel(subject: ModelSubject, script: readonly Step[]): Promise<void> {
  await new World(subject, await subject.open()).run(script);
}

class World {
  readonly #subject: ModelSubject;
  #store: Store;
  #oracle = new Oracle();
  #backup: { readonly store: Store; readonly oracle: Oracle } | undefined;
  #history = 0;
  #keys = 0;
  readonly #pushes: StoreRow[][] = [];
  readonly #readers: Reader[] = [0, 1].map(() => ({
    after: undefined,
    held: new Map(),
    history: 0,
  }));

  constructor(subject: ModelSubject, store: Store) {
    this.#subject = subject;
    this.#store = store;
  }

  async run(script: readonly Step[]): Promise<void> {
    for (const step of script) await this.#perform(step);
    for (const each of this.#readers) await this.#pullAll(each, 3);
  }

  async #perform(step: Step): Promise<void> {
    switch (step.kind) {
      case 'push': {
        const rows = step.rows.map((each) => this.#rowOf(each));
        this.#pushes.push(rows);
        return this.#push(rows);
      }
      case 'again': {
        // the answer was lost, or the network delivered the request twice
        const rows = this.#pushes.at(-1 - step.back);
        return rows && this.#push(rows);
      }
      case 'page':
        await this.#pull(this.#readers[step.reader]!, step.limit);
        return;
      case 'pull':
        return this.#pullAll(this.#readers[step.reader]!, step.limit);
      case 'backup':
        this.#backup = {
          store: await this.#subject.copy(this.#store),
          oracle: this.#oracle.copy(),
        };
        return;
      case 'restore':
        if (!this.#backup) return;
        this.#store = this.#backup.store;
        this.#oracle = this.#backup.oracle;
        this.#backup = undefined;
        this.#history += 1;
    }
  }

  #rowOf({ id, base, value, seen }: Row): StoreRow {
    this.#keys += 1;
    const [newest, ...older] = this.#oracle.versionsOf(id).toReversed();
    const versions = {
      newest,
      none: undefined,
      older: older[0],
      foreign: '7-foreign',
      absent: '0',
    };
    const content = value === 'large' ? LARGE : value;
    return {
      id,
      key: `r.${this.#keys}`,
      base: versions[base as keyof typeof versions],
      ...(value !== 'deleted' && { document: { _id: id, content } }),
      ...(seen && { seen: (seen === 'newest' ? newest : older[0]) ?? '0' }),
    };
  }

  async #push(rows: readonly StoreRow[]): Promise<void> {
    const results = await this.#store.push('orders', rows);
    const expected = rows.map((each, index) => this.#oracle.push(each, results[index]));
    expect(results).toEqual(expected);
  }

  async #pull(each: Reader, most: number): Promise<boolean> {
    const page = await this.#store.pull('orders', each.after, most);
    const ids = page.changes.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeLessThanOrEqual(most);
    if (page.more) expect(ids.length).toBeGreaterThan(0);
    // Only another history resets; where nothing was pulled yet there is nothing to reset.
    if (page.reset) expect(each.history).toBeLessThan(this.#history);
    if (each.history < this.#history && each.held.size > 0) expect(page.reset).toBe(true);
    if (page.reset) each.held.clear();
    for (const change of page.changes) {
      each.held.set(change.id, change);
      expect(change).toEqual(this.#oracle.changeOf(change.id));
    }
    each.after = page.checkpoint;
    each.history = this.#history;
    return page.more;
  }

  async #pullAll(each: Reader, most: number): Promise<void> {
    while (await this.#pull(each, most));
    expect(each.held).toEqual(this.#oracle.changes());
  }
}
