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
