import type { FindOptions, Predicate } from '../document-types.ts';

/** Options of a live count. */
export interface LiveCountOptions<T extends object> extends FindOptions {
  /** Narrows the criteria further. It runs here, with its closures, on documents that are new or changed. */
  where?: Predicate<T> | undefined;
  /**
   * Milliseconds from one result to the next at the least; what lies between is not computed.
   * @default 0
   */
  throttle?: number | undefined;
}

/** Options of a live query. */
export interface LiveOptions<T extends object> extends LiveCountOptions<T> {
  /** Dotted paths with 1 for ascending, -1 for descending. Ties, and all without it, come in order of insertion. */
  sort?: Readonly<Record<string, 1 | -1>> | undefined;
  /** How many to leave out at the beginning. */
  skip?: number | undefined;
  /** How many to show at the most. */
  limit?: number | undefined;
  /** Dotted paths of the fields to show; `_id` always comes along. What else changes is not told. */
  select?: readonly string[] | undefined;
}
