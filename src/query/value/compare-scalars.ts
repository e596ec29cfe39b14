import { compareValues } from './compare-values.ts';

/** {@link compareValues} with a fast path for two numbers, strings or dates, which nearly all keys are. */
export function compareScalars(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') {
    if (a < b) return -1;
    if (a > b) return 1;
    return a === b ? 0 : compareValues(a, b); // NaN
  }
  if (typeof a === 'string' && typeof b === 'string') {
    if (a === b) return 0;
    return a < b ? -1 : 1;
  }
  if (a instanceof Date && b instanceof Date) return compareScalars(a.getTime(), b.getTime());
  return compareValues(a, b);
}
