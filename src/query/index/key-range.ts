import { type Compare, compareScalars } from '../value/compare-values.ts';
import type { Scalar } from './index-key.ts';

/**
 * A range of keys; plain data. A bound names as many leading fields as it needs: `from: ['eu']`
 * begins before every key of `eu`, or behind all of them when it is open. A bound without fields is
 * the beginning or end of the index.
 */
export interface KeyRange {
  readonly from: readonly Scalar[];
  readonly to: readonly Scalar[];
  /** Whether the range excludes the keys at `from`. */
  readonly fromOpen: boolean;
  readonly toOpen: boolean;
}

/** The whole index. */
export const WHOLE: KeyRange = { from: [], to: [], fromOpen: false, toOpen: false };

/**
 * The bound of a range in the order of keys: false for every key before it, true from there on.
 *
 * @param fields How many fields the index has.
 * @param values The leading fields of the bound; none is the beginning or end of the index.
 * @param isBehind Whether the keys that begin with the values lie before the bound.
 * @param compare The order of scalars.
 */
export function boundOf(
  fields: number,
  values: readonly unknown[],
  isBehind: boolean,
  compare: Compare,
): (key: unknown) => boolean {
  const least = isBehind ? 1 : 0;
  if (values.length === 0) return () => !isBehind;
  if (fields > 1)
    return (key) => compareTuples(key as readonly unknown[], values, compare) >= least;
  const [value] = values;
  return (key) => compare(key, value) >= least;
}

/** Compares two keys by the fields that both have. */
export function compareTuples(
  a: readonly unknown[],
  b: readonly unknown[],
  compare: Compare = compareScalars,
): number {
  const length = Math.min(a.length, b.length);
  for (let field = 0; field < length; field++) {
    const order = compare(a[field], b[field]);
    if (order !== 0) return order;
  }
  return 0;
}
