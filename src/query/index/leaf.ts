/** What an index lists: a record, with its rank of insertion. */
export interface Ranked {
  readonly rank: number;
}

/** Whether a pair lies behind a bound: false up to some place in the order, true from there on. */
export type Bound<K> = (key: K, order: number) => boolean;

/** Entries in a row, `from` to before `to`. */
export interface EntrySlice<E> {
  readonly entries: readonly E[];
  readonly from: number;
  readonly to: number;
}

/** Pairs in a stretch of the order. Parallel arrays take half the memory of objects. */
export interface Leaf<K, E> {
  /** No pair of this block comes before it, every pair of the blocks before does; the first block has no bound. */
  readonly low: K;
  readonly lowRank: number;
  readonly keys: K[];
  readonly entries: E[];
  sorted: boolean;
}

/** Keys looked at for a guess. */
const SAMPLE = 64;

/** Where in a sorted block the pairs past a bound begin. */
export function search<K, E extends Ranked>({ keys, entries }: Leaf<K, E>, past: Bound<K>): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (past(keys[middle] as K, (entries[middle] as E).rank)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** About how many keys of an unsorted list are between two bounds. */
export function estimateMatching<K>(
  count: number,
  keysAt: (at: number) => readonly K[],
  low: Bound<K>,
  high: Bound<K>,
): number {
  const step = Math.max(1, count / SAMPLE);
  let found = 0;
  for (let at = 0; at < count; at += step) {
    if (keysAt(Math.floor(at)).some((key) => low(key, 0) && !high(key, 0))) found++;
  }
  return found * step;
}
