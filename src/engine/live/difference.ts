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
  let tail = 0;
  while (tail < shorter - start && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  // One document among ten thousand: what lies between is short.
  const old = new Set(before.slice(start, before.length - tail));
  const gone: number[] = [];
  const at: number[] = [];
  const come: T[] = [];
  for (let place = start; place < after.length - tail; place++) {
    const item = after[place] as T;
    if (old.delete(item)) continue;
    at.push(place);
    come.push(item);
  }
  for (let place = start; place < before.length - tail; place++) {
    if (old.has(before[place] as T)) gone.push(place);
  }
  return { gone, at, come };
}
