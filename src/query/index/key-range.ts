import { compareScalars } from '../value/compare-scalars.ts';
import type { Scalar } from './index-key.ts';

/**
 * A stretch of an index; plain data. The bounds name the leading fields, as many as they need: `from: ['eu']`
 * begins before every key of `eu`, or behind all of them when it is open; no field at all is the very
 * beginning or end.
 */
export interface KeyRange {
  readonly from: readonly Scalar[];
  readonly to: readonly Scalar[];
  /** Whether the keys at `from` are left out. */
  readonly fromOpen: boolean;
  readonly toOpen: boolean;
}

/** Everything. */
export const WHOLE: KeyRange = { from: [], to: [], fromOpen: false, toOpen: false };

/** Compares two keys, or a key with the leading fields of one, which then equal all that begin so. */
export function compareTuples(a: readonly unknown[], b: readonly unknown[]): number {
  const length = Math.min(a.length, b.length);
  for (let field = 0; field < length; field++) {
    const order = compareScalars(a[field], b[field]);
    if (order !== 0) return order;
  }
  return 0;
}
