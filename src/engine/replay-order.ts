import { type Coroutine, outcome, type Result } from '../async/coroutine.ts';
import { isPassing } from '../errors/errors.ts';

/**
 * Keeps the order of changes that are applied together. One that fails for now is applied later, so
 * what follows it in its collections, and may have been made on top, waits as well.
 */
export class ReplayOrder {
  readonly #failures = new Map<object, unknown>();

  /** Applies a change in its turn. @param to The collections that it changes. */
  *perform<T>(to: readonly object[], start: () => Result<T>): Coroutine<T> {
    for (const collection of to)
      if (this.#failures.has(collection)) throw this.#failures.get(collection);
    try {
      return yield* outcome(start());
    } catch (error) {
      if (isPassing(error)) for (const collection of to) this.#failures.set(collection, error);
      throw error;
    }
  }
}

/** Changes that are not applied, by collection: the first of each. */
export type Overdue = Map<string, readonly [turn: number, why: unknown]>;

/**
 * The collections that lack acknowledged changes, as code or storage fails for now. Until these are
 * applied nobody is answered from what is there, and nothing is made on top.
 */
export class OverdueChanges {
  readonly #byReplay = new Map<unknown, Overdue>();
  readonly #waiting: (() => void)[] = [];

  get areThere(): boolean {
    return this.#byReplay.size > 0;
  }

  has(replay: unknown): boolean {
    return this.#byReplay.has(replay);
  }

  /** Notes what a replay has left out: nothing, once all of it is applied. */
  note(replay: unknown, overdue?: Overdue): void {
    if (overdue?.size) this.#byReplay.set(replay, overdue);
    else this.#byReplay.delete(replay);
    if (!this.areThere) for (const go of this.#waiting.splice(0)) go();
  }

  /**
   * @param names Of the collections that are looked into or changed; of all, where left out.
   * @param before Only changes before this turn count: that of a change that is replayed.
   * @param beside Replays that are applied with it.
   * @throws why a change is missing.
   */
  check(
    names?: readonly string[],
    before = Number.POSITIVE_INFINITY,
    beside?: ReadonlySet<unknown>,
  ): void {
    for (const [replay, overdue] of this.#byReplay)
      for (const [name, [turn, why]] of overdue)
        if (turn < before && !beside?.has(replay) && (!names || names.includes(name))) throw why;
  }

  /** Calls back when no change is missing. */
  after(call: () => void): void {
    this.#waiting.push(call);
  }
}
