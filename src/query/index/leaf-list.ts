import { firstWhere } from '../../codec/first-where.ts';

/** Pairs in a leaf, above which it splits; moving that many takes well under a microsecond. */
const FULL = 512;

/** A position among the pairs: the number of a leaf, and an index in it. */
interface Position {
  readonly number: number;
  readonly at: number;
}

/**
 * Leaves in order, as the lowest level of a B+ tree. A leaf may be unsorted until a read needs its
 * order; sorting splits it where it is too long.
 */
export class LeafList<K, E extends Ranked> {
  readonly #compare: (a: K, b: K) => number;
  #leaves: Leaf<K, E>[] = [];

  constructor(compare: (a: K, b: K) => number) {
    this.#compare = compare;
  }

  get length(): number {
    return this.#leaves.length;
  }

  at(number: number): Leaf<K, E> | undefined {
    return this.#leaves[number];
  }

  [Symbol.iterator](): Iterator<Leaf<K, E>> {
    return this.#leaves[Symbol.iterator]();
  }

  /** Starts anew with empty leaves that begin at these pairs, given in order. */
  reset(bounds: readonly Pick<Leaf<K, E>, 'low' | 'lowRank'>[]): void {
    this.#leaves = bounds.map((bound) => ({ ...bound, keys: [], entries: [], sorted: true }));
  }

  /** Adds a pair at its place, or at the end of an unsorted leaf. */
  add(key: K, entry: E): void {
    const number = this.#numberFor(key, entry.rank);
    const leaf = this.#leaves[number] as Leaf<K, E>;
    const at = leaf.sorted ? search(leaf, this.boundAt(key, entry.rank)) : leaf.keys.length;
    this.insert({ number, at }, key, entry);
  }

  /** Adds a pair at the position that {@link seek} gave of it, to a list that is not empty. */
  insert({ number, at }: Position, key: K, entry: E): void {
    const { keys, entries, sorted } = this.#leaves[number] as Leaf<K, E>;
    keys.splice(at, 0, key);
    entries.splice(at, 0, entry);
    if (!sorted || keys.length <= FULL) return;
    // A leaf that grows at its end, as with keys of time, stays full.
    this.#split(number, at === FULL ? FULL : FULL / 2);
  }

  /** Adds a pair without sorting it in. */
  append(key: K, entry: E): void {
    const leaf = this.#leaves[this.#numberFor(key, entry.rank)] as Leaf<K, E>;
    leaf.keys.push(key);
    leaf.entries.push(entry);
    leaf.sorted = false;
  }

  removeAt({ number, at }: Position): void {
    const { keys, entries } = this.#leaves[number] as Leaf<K, E>;
    keys.splice(at, 1);
    entries.splice(at, 1);
    if (keys.length === 0) this.#leaves.splice(number, 1);
  }

  /** The bound before a pair; without a rank, before every pair of the key. */
  boundAt(key: K, rank = Number.NEGATIVE_INFINITY): Bound<K> {
    const compare = this.#compare;
    return (other, otherRank) => {
      const difference = compare(other, key);
      return difference > 0 || (difference === 0 && otherRank >= rank);
    };
  }

  /** The position of a pair; its leaf is sorted for it. */
  find(key: K, rank: number): Position | undefined {
    this.sorted(this.#numberFor(key, rank));
    const number = this.#numberFor(key, rank); // another one if sorting has split it
    const leaf = this.#leaves[number] as Leaf<K, E>;
    const at = search(leaf, this.boundAt(key, rank));
    const found = leaf.entries[at]?.rank === rank && this.#compare(leaf.keys[at] as K, key) === 0;
    return found ? { number, at } : undefined;
  }

  /** The position of the first pair behind a bound; its leaf is sorted for it. */
  seek(bound: Bound<K>): Position {
    for (;;) {
      const number = this.lastBefore(bound);
      const leaf = this.#leaves[number];
      if (!leaf) return { number, at: 0 };
      if (leaf.sorted) return { number, at: search(leaf, bound) };
      this.sorted(number);
    }
  }

  /** The number of the last leaf with a pair before a bound, or of the first leaf. */
  lastBefore(bound: Bound<K>): number {
    const leaves = this.#leaves;
    const isBehind = ({ low, lowRank }: Leaf<K, E>) => bound(low, lowRank);
    return firstWhere(1, leaves.length, (at) => isBehind(leaves[at] as Leaf<K, E>)) - 1;
  }

  /**
   * Sorts a leaf, unless it is sorted, and splits it if it is too long: later leaves then move up.
   */
  sorted(number: number): Leaf<K, E> {
    const leaf = this.#leaves[number] as Leaf<K, E>;
    if (leaf.sorted) return leaf;
    const keys = leaf.keys.slice();
    const entries = leaf.entries.slice();
    const indexes = Array.from(keys.keys()).sort(
      (a, b) =>
        this.#compare(keys[a] as K, keys[b] as K) ||
        (entries[a] as E).rank - (entries[b] as E).rank,
    );
    indexes.forEach((index, at) => {
      leaf.keys[at] = keys[index] as K;
      leaf.entries[at] = entries[index] as E;
    });
    leaf.sorted = true;
    for (let at = Math.floor((indexes.length - 1) / FULL) * FULL; at > 0; at -= FULL) {
      this.#split(number, at);
    }
    return leaf;
  }

  #numberFor(key: K, rank: number): number {
    const leaves = this.#leaves;
    if (leaves.length === 0) {
      leaves.push({ low: key, lowRank: rank, keys: [], entries: [], sorted: true });
    }
    let low = 1;
    let high = leaves.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const leaf = leaves[middle] as Leaf<K, E>;
      if ((this.#compare(leaf.low, key) || leaf.lowRank - rank) > 0) high = middle;
      else low = middle + 1;
    }
    return low - 1;
  }

  /** Moves the pairs of a leaf from `at` on to a new leaf behind it. */
  #split(number: number, at: number): void {
    const leaf = this.#leaves[number] as Leaf<K, E>;
    const keys = leaf.keys.splice(at);
    const entries = leaf.entries.splice(at);
    const bound = { low: keys[0] as K, lowRank: (entries[0] as E).rank };
    this.#leaves.splice(number + 1, 0, { ...bound, keys, entries, sorted: true });
  }
}

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

/**
 * Pairs in a range of the order, as in a leaf of a B+ tree. Parallel arrays take half the memory of
 * objects.
 */
export interface Leaf<K, E> {
  /**
   * The least pair that belongs here, by key and rank; the first leaf also takes everything before.
   */
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
