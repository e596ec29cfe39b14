import type { Item, Path, Simple, ValueAt } from '../path/path-types.ts';

/** Ascending or descending. */
export type Direction = 1 | -1;

/**
 * An order of documents: paths with their direction, the most important first.
 *
 * Checked against `T`. An object has no place in an order; its fields have.
 *
 * @example `{ 'address.city': 1, age: -1 }`
 */
export type Sort<T = Record<string, unknown>> = {
  readonly [P in Path<T>]?: DirectionBy<ValueAt<T, P>>;
};

type DirectionBy<V> = unknown extends V
  ? Direction
  : [Extract<Item<V>, Simple>] extends [never]
    ? never
    : Direction;
