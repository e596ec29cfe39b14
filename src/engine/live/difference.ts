/** The changes that turn one list into another. */
export interface Difference<T> {
  /** Indexes in the old list, ascending. */
  readonly removed: readonly number[];
  /** Indexes in the new list, ascending. */
  readonly indexes: readonly number[];
  /** The items at these indexes. */
  readonly inserted: readonly T[];
}

/** The difference of two lists. Items of both must be in the same order. */
export function difference<T>(before: readonly T[], after: readonly T[]): Difference<T> {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let end = before.length;
  /** From an index in the old list to the same distance from the end of the new one. */
  const shift = after.length - before.length;
  const least = start + Math.max(0, -shift);
  while (end > least && before[end - 1] === after[end - 1 + shift]) end--;
  // Usually one document among ten thousand changed: the rest between is short.
  const old = new Set(before.slice(start, end));
  const removed: number[] = [];
  const indexes: number[] = [];
  const inserted: T[] = [];
  for (let index = start; index < end + shift; index++) {
    const item = after[index] as T;
    if (old.delete(item)) continue;
    indexes.push(index);
    inserted.push(item);
  }
  for (let index = start; index < end; index++) {
    if (old.has(before[index] as T)) removed.push(index);
  }
  return { removed, indexes, inserted };
}
