/**
 * The first number of a range for which a test holds, that holds for all behind it; the end where
 * it holds for none. A binary search.
 */
export function firstWhere(from: number, end: number, holds: (at: number) => boolean): number {
  let low = from;
  let high = end;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
