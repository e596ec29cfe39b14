import { CairnError } from '../../src/errors/errors.ts';
import type { World } from './world.ts';

/** Virtual time in which each call has to be answered, whatever storage does. */
const PATIENCE_MS = 600_000;

/** The states of a collection, as its users know them from the answers. */
class History {
  /** As JSON, oldest first; the last is what it holds now. */
  readonly states: string[];
  /** Place of the state that was last told to be saved. */
  saved = 0;

  constructor(first: unknown) {
    this.states = [JSON.stringify(first)];
  }

  get now(): string {
    return this.states.at(-1) as string;
  }
}

/** The calls on each collection with their answers, and the defects found in them. */
export class HistoryChecker {
  readonly problems: string[] = [];
  /** Codes of the errors that calls were rejected with, or that were told. */
  readonly codes = new Set<string>();
  readonly #world: World;
  /**
   * Whether several tabs write at the same time, so that one may lose by its end what was before
   * another's.
   */
  severalWrite = false;
  #hasFailed = false;
  readonly #histories: Readonly<Record<string, History>>;

  /** @param collections What each collection holds at first. */
  constructor(world: World, collections: Readonly<Record<string, unknown>>) {
    this.#world = world;
    this.#histories = Object.fromEntries(
      Object.entries(collections).map(([name, first]) => [name, new History(first)]),
    );
  }

  /**
   * Waits for a call.
   *
   * @returns what it answers, or `undefined` where it failed.
   */
  async hear<T>(what: string, asked: Promise<T>): Promise<{ value: T } | undefined> {
    let answer: { value: T } | { error: unknown } | undefined;
    asked.then(
      (value) => {
        answer = { value };
      },
      (error: unknown) => {
        answer = { error };
      },
    );
    await this.#world.runUntil(this.#world.now + PATIENCE_MS, () => answer !== undefined);
    if (!answer) {
      this.problems.push(`${what} is never answered`);
      return undefined;
    }
    if ('value' in answer) return answer;
    this.note(what, answer.error);
    return undefined;
  }

  /** Takes an error that was told. */
  note(what: string, error: unknown): void {
    if (error instanceof CairnError && error.code !== 'unexpected') this.codes.add(error.code);
    else this.problems.push(`${what}: ${error} is no typed error`);
  }

  /** A change was acknowledged: the collection holds this now. */
  acknowledge(collection: string, state: unknown): void {
    this.#of(collection).states.push(JSON.stringify(state));
  }

  /** Everything so far was told to be saved, of one collection or of all. */
  save(collection?: string): void {
    // What a client that failed had not saved is not among it.
    if (this.#hasFailed) return;
    const histories = collection ? [this.#of(collection)] : Object.values(this.#histories);
    for (const history of histories) history.saved = history.states.length - 1;
  }

  /**
   * A client failed, and everybody who asks it for something is told: what it had not saved may be
   * gone.
   */
  failClient(): void {
    this.#hasFailed = true;
  }

  /** Compares what is there with what was told. */
  check(when: string, collection: string, state: unknown): void {
    if (this.#hasFailed) {
      this.checkSaved(when, collection, state);
      return;
    }
    const { now } = this.#of(collection);
    const found = JSON.stringify(state);
    if (found !== now)
      this.problems.push(`${when}: ${collection} holds ${found} instead of ${now}`);
  }

  /** As {@link check}, where what was not told to be saved may be gone with its tab. */
  checkSaved(when: string, collection: string, state: unknown): void {
    const { states, saved } = this.#of(collection);
    const found = JSON.stringify(state);
    const allowed = states.slice(saved);
    // Of several tabs those that are left still have what they were told.
    const mayDiffer = this.#hasFailed || this.severalWrite;
    const isKept = mayDiffer && holds(state, JSON.parse(states[saved] as string));
    if (!allowed.includes(found) && !isKept)
      this.problems.push(`${when}: ${collection} holds ${found}, which is none of ${allowed}`);
  }

  #of(collection: string): History {
    return this.#histories[collection] as History;
  }
}

/** Whether all tokens, or the ids of all notes, are there. */
function holds(state: unknown, saved: object): boolean {
  const tokens = (of: object) => (Array.isArray(of) ? of : Object.keys(of));
  const found = tokens((state ?? {}) as object);
  return tokens(saved).every((token) => found.includes(token));
}
