import type { IndexDefinition } from './index-definition.ts';
import {
  type Bound,
  type EntryList,
  type EntrySlice,
  estimateMatching,
  type Leaf,
  LeafList,
  type Ranked,
  search,
} from './leaf-list.ts';

/** Pairs in a leaf after loading, roughly: quick to sort, and few leaves to choose from. */
const LOADED = 1024;
const MAX_LEAVES = 256;
/** Loaded pairs that `sorting` distributes at a time. */
const SLICE = 2048;
/**
 * Reads of a single key that scan the loaded pairs before these are distributed; see `matching`.
 */
const MAX_SCANS = 16;
/** Entries of distinct keys that a descending read reverses at a time. */
const BATCH = 64;

/**
 * Pairs of key and entry, ordered by key and then by rank: a B+ tree of two levels.
 *
 * Loading sorts nothing: it chooses the bounds of leaves from a sample. The first read that needs
 * order distributes the pairs to unsorted leaves (about 20 ms for 100,000; a scan over them takes
 * 1). A leaf is sorted by the first read of it, or in the background by `sorting`.
 *
 * A slice of entries is valid until the next change. docs/decisions/013-indexes-and-plans.md says
 * why nothing is sorted at first.
 */
export class SortedPairs<K, E extends Ranked> {
  readonly #compare: (a: K, b: K) => number;
  /** Whether a list among loaded keys stands for the keys in it. */
  readonly #multi: boolean;
  readonly #isCollated: boolean;
  readonly #leaves: LeafList<K, E>;
  /** Loaded pairs; those from `#distributed` on are in no leaf yet. */
  #keys: readonly K[] = [];
  #entries: EntryList<E> = [];
  #distributed = 0;
  #scans = 0;

  constructor(
    compare: (a: K, b: K) => number,
    { multi, collation }: Pick<IndexDefinition, 'multi' | 'collation'>,
  ) {
    this.#compare = compare;
    this.#multi = multi;
    this.#isCollated = collation !== undefined;
    this.#leaves = new LeafList(compare);
  }

  /** Loads pairs in any order in place of all others. The lists must not change afterwards. */
  load(keys: readonly K[], entries: EntryList<E>): void {
    this.#keys = keys;
    this.#entries = entries;
    this.#distributed = this.#scans = 0;
    const wanted = 4 * Math.min(MAX_LEAVES, Math.ceil(keys.length / LOADED));
    const sample: { low: K; lowRank: number }[] = [];
    for (let part = 0; part < wanted; part++) {
      const index = Math.floor((part * keys.length) / wanted);
      const keysThere = this.#keysAt(index);
      const low = keysThere[part % keysThere.length];
      if (low !== undefined) sample.push({ low, lowRank: (entries.at(index) as E).rank });
    }
    sample.sort((a, b) => this.#compare(a.low, b.low) || a.lowRank - b.lowRank);
    this.#leaves.reset(sample.filter((_, index) => index % 4 === 0));
  }

  add(key: K, entry: E): void {
    this.#leaves.add(key, entry);
  }

  remove(key: K, rank: number): void {
    this.#distribute(Number.POSITIVE_INFINITY);
    const position = this.#leaves.find(key, rank);
    if (position) this.#leaves.removeAt(position);
  }

  /** Replaces an entry by another of the same key and rank. */
  replace(key: K, entry: E): void {
    this.#distribute(Number.POSITIVE_INFINITY);
    const position = this.#leaves.find(key, entry.rank);
    if (position) (this.#leaves.at(position.number) as Leaf<K, E>).entries[position.at] = entry;
  }

  /** The entries behind `low` and before `high`, ascending. */
  *ascending(low: Bound<K>, high: Bound<K>): Generator<EntrySlice<E>> {
    this.#distribute(Number.POSITIVE_INFINITY);
    const leaves = this.#leaves;
    let { number, at: from } = leaves.seek(low);
    for (; number < leaves.length; number++) {
      const leaf = leaves.sorted(number);
      const { entries } = leaf;
      const to = search(leaf, high);
      if (to > from) yield { entries, from, to };
      if (to < entries.length) return;
      from = 0;
    }
  }

  /**
   * The same by descending key, equal keys by ascending rank. The bounds must not look at ranks.
   */
  *descending(low: Bound<K>, high: Bound<K>): Generator<EntrySlice<E>> {
    this.#distribute(Number.POSITIVE_INFINITY);
    const leaves = this.#leaves;
    let { number, at } = leaves.seek(high);
    for (;;) {
      while (at === 0) {
        if (number === 0) return;
        const behind = leaves.length - number;
        leaves.sorted(number - 1);
        number = leaves.length - behind - 1;
        at = (leaves.at(number) as Leaf<K, E>).keys.length;
      }
      const { keys, entries } = leaves.at(number) as Leaf<K, E>;
      const batch: E[] = [];
      let key = keys[at - 1] as K;
      while (at > 1 && batch.length < BATCH && low(key, 0)) {
        const before = keys[at - 2] as K;
        if (this.#compare(before, key) === 0) break;
        batch.push(entries[--at] as E);
        key = before;
      }
      if (batch.length > 0) yield { entries: batch, from: 0, to: batch.length };
      else if (!low(key, 0)) return;
      else {
        const start = leaves.boundAt(key);
        yield* this.ascending(start, (other) => this.#compare(other, key) > 0);
        ({ number, at } = leaves.seek(start));
      }
    }
  }

  /**
   * The entries of a key by rank, while most loaded pairs are not distributed yet: a scan over them
   * answers the first lookups after opening sooner than distributing would. `undefined` later.
   */
  matching(wanted: K): E[] | undefined {
    if (this.#distributed === this.#keys.length || this.#scans++ >= MAX_SCANS) return undefined;
    const found: E[] = [];
    // Nothing else equals a string, unless by a collation.
    const equals: (key: K) => boolean =
      typeof wanted === 'string' && !this.#isCollated
        ? (key) => key === wanted
        : (key) => this.#compare(key, wanted) === 0;
    const keys = this.#keys;
    for (let index = this.#distributed; index < keys.length; index++) {
      const key = keys[index] as K;
      if (this.#multi && Array.isArray(key) ? key.some(equals) : equals(key)) {
        found.push(this.#entries.at(index) as E);
      }
    }
    for (const { keys, entries } of this.#leaves) {
      for (let at = 0; at < keys.length; at++) {
        if (equals(keys[at] as K)) found.push(entries[at] as E);
      }
    }
    return found.sort((a, b) => a.rank - b.rank);
  }

  /** How many pairs lie between two bounds; estimated from a sample where they are unsorted. */
  estimate(low: Bound<K>, high: Bound<K>): number {
    const loaded = this.#keys.length - this.#distributed;
    let count = estimateMatching(
      loaded,
      (index) => this.#keysAt(this.#distributed + index),
      low,
      high,
    );
    const last = this.#leaves.lastBefore(high);
    for (let number = this.#leaves.lastBefore(low); number <= last; number++) {
      const leaf = this.#leaves.at(number);
      if (!leaf) break;
      const { keys, sorted } = leaf;
      count += sorted
        ? Math.max(0, search(leaf, high) - search(leaf, low))
        : estimateMatching(keys.length, (index) => [keys[index] as K], low, high);
    }
    return count;
  }

  /** Sorts the loaded pairs, in slices of a few milliseconds at most. */
  *sorting(): Generator<void> {
    while (this.#distributed < this.#keys.length) {
      this.#distribute(SLICE);
      yield;
    }
    for (let number = 0; number < this.#leaves.length; number++) {
      if (this.#leaves.at(number)?.sorted) continue;
      this.#leaves.sorted(number);
      yield;
    }
  }

  /**
   * All pairs in order, some hundreds at a time. Changes may come in between: pairs that were there
   * all the time are visited once.
   */
  *batches(): Generator<Pick<Leaf<K, E>, 'keys' | 'entries'>> {
    this.#distribute(Number.POSITIVE_INFINITY);
    const leaves = this.#leaves;
    let behind: Bound<K> = () => true;
    for (;;) {
      let { number, at } = leaves.seek(behind);
      // The first pair behind a bound may be in a later leaf.
      for (; at === leaves.at(number)?.keys.length; number++) at = 0;
      if (number >= leaves.length) return;
      const leaf = leaves.sorted(number);
      const keys = leaf.keys.slice(at);
      const entries = leaf.entries.slice(at);
      const last = keys.at(-1) as K;
      const { rank } = entries.at(-1) as E;
      yield { keys, entries };
      this.#distribute(Number.POSITIVE_INFINITY);
      behind = leaves.boundAt(last, rank + 1);
    }
  }

  #keysAt(index: number): readonly K[] {
    const key = this.#keys[index] as K;
    return this.#multi && Array.isArray(key) ? key : [key];
  }

  /** Appends loaded pairs to their leaves, at most this many. */
  #distribute(most: number): void {
    const end = Math.min(this.#keys.length, this.#distributed + most);
    if (this.#distributed === end) return;
    const leaves = this.#leaves;
    for (; this.#distributed < end; this.#distributed++) {
      const key = this.#keys[this.#distributed] as K;
      // Not for an empty list: changes of such a record distribute nothing, so it may be forgotten
      // by now.
      const entry = (): E => this.#entries.at(this.#distributed) as E;
      if (!this.#multi || !Array.isArray(key)) leaves.append(key, entry());
      else for (const item of key) leaves.append(item, entry());
    }
    if (end < this.#keys.length) return;
    this.#keys = [];
    this.#entries = [];
    this.#distributed = 0;
  }
}
