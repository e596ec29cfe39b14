import type { SortPath } from '../path/path-types.ts';

/** Ascending or descending. */
export type Direction = 1 | -1;

/**
 * An order of documents: paths with their direction, the most important first.
 * Checked against `T`. Objects cannot be sorted by, their fields can. A path that is known only at run time,
 * `{ [column]: 1 }`, is accepted unchecked.
 *
 * @example `{ 'address.city': 1, age: -1 }`
 */
export type Sort<T = Record<string, unknown>> = { [P in SortPath<T>]?: DirectionAt<P> };

/**
 * Positions in arrays, `items.${number}`, make an index signature. A computed key has to fit it, and TypeScript takes
 * the value of one for a `number`.
 */
type DirectionAt<P extends string> = string extends P
  ? Direction
  : Record<never, never> extends Record<P, unknown>
    ? number
    : Direction;
