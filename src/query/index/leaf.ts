/** An entry of an index: a record, with its insertion rank. */
export interface Ranked {
  readonly rank: number;
}

/** Entries by their place, perhaps made on demand. */
export interface EntryList<E> {
  at(index: number): E | undefined;
}

/** A bound in the order of pairs: false for every pair before it, true from there on. */
export type Bound<K> = (key: K, rank: number) => boolean;

/** Consecutive entries, from index `from` to before `to`. */
export interface EntrySlice<E> {
  readonly entries: readonly E[];
  readonly from: number;
  readonly to: number;
}

/** Pairs in a range of the order, as in a leaf of a B+ tree. Parallel arrays take half the memory of objects. */
export interface Leaf<K, E> {
  /** The least pair that belongs here, by key and rank; the first leaf also takes everything before. */
  readonly low: K;
  readonly lowRank: number;
  readonly keys: K[];
  readonly entries: E[];
  sorted: boolean;
}

/** Keys in a sample for an estimate. */
const SAMPLE = 64;

/** The index of the first pair behind a bound, in a sorted leaf. */
export function search<K, E extends Ranked>(
  { keys, entries }: Leaf<K, E>,
  bound: Bound<K>,
): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (bound(keys[middle] as K, (entries[middle] as E).rank)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** About how many keys of an unsorted list lie between two bounds. */
export function estimateMatching<K>(
  count: number,
  keysAt: (index: number) => readonly K[],
  low: Bound<K>,
  high: Bound<K>,
): number {
  const step = Math.max(1, count / SAMPLE);
  let found = 0;
  for (let index = 0; index < count; index += step) {
    if (keysAt(Math.floor(index)).some((key) => low(key, 0) && !high(key, 0))) found++;
  }
  return found * step;
}
