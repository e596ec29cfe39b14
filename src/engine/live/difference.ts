/** What is to be done to a list to make another of it. */
export interface Difference<T> {
  /** Places in the list before, ascending. */
  readonly gone: readonly number[];
  /** Places in the list after, ascending. */
  readonly at: readonly number[];
  /** What comes to these places. */
  readonly come: readonly T[];
}

/** The difference of two lists in which whatever is in both comes in the same order. */
export function difference<T>(before: readonly T[], after: readonly T[]): Difference<T> {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let end = before.length;
  /** From a place in the list before to the same distance from the end of the other. */
  const shift = after.length - before.length;
  const least = start + Math.max(0, -shift);
  while (end > least && before[end - 1] === after[end - 1 + shift]) end--;
  // One document among ten thousand: what lies between is short.
  const old = new Set(before.slice(start, end));
  const gone: number[] = [];
  const at: number[] = [];
  const come: T[] = [];
  for (let place = start; place < end + shift; place++) {
    const item = after[place] as T;
    if (old.delete(item)) continue;
    at.push(place);
    come.push(item);
  }
  for (let place = start; place < end; place++) {
    if (old.has(before[place] as T)) gone.push(place);
  }
  return { gone, at, come };
}
