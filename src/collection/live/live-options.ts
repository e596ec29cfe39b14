import type { FindOptions, MatchOptions, SelectOption, Stamp } from '../document-types.ts';

interface Throttle {
  /**
   * Milliseconds from one result to the next at the least; what lies between is not computed. Worth setting
   * where criteria hold a pattern and much is written: everything is saved before each of its results.
   * @default 0
   */
  throttle?: number | undefined;
}

/** Options of a live query: those of `filter`, and how often it may tell. */
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
