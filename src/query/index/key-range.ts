import { compareScalars } from '../value/compare-scalars.ts';
import type { Scalar } from './index-key.ts';

/**
 * A range of keys; plain data. A bound names as many leading fields as it needs: `from: ['eu']` begins before every
 * key of `eu`, or behind all of them when it is open. A bound without fields is the beginning or end of the index.
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

/** Compares two keys by the fields that both have: leading fields equal every key that begins with them. */
export function compareTuples(a: readonly unknown[], b: readonly unknown[]): number {
  const length = Math.min(a.length, b.length);
  for (let field = 0; field < length; field++) {
    const order = compareScalars(a[field], b[field]);
    if (order !== 0) return order;
  }
  return 0;
}
