import type { FindOptions, MatchOptions, SelectOption, Stamp } from '../document-types.ts';

interface Throttle {
  /**
   * Minimum milliseconds between two results; the engine computes none in between. Useful for criteria with a pattern
   * and many writes: each result of such a query waits for a save.
   * @default 0
   */
  throttle?: number | undefined;
}

/** Options of a live query: those of `filter`, and `throttle`. */
export type LiveOptions<
  T extends object,
  S extends Stamp = never,
  L extends SelectOption<T, S> = undefined,
> = Omit<FindOptions<T, S, L>, 'after' | 'signal'> & Throttle;

/** Options of a live count. */
export type LiveCountOptions<T extends object, S extends Stamp = never> = Omit<
  MatchOptions<T, S>,
  'signal'
> &
  Throttle;
