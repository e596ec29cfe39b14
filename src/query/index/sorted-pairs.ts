import {
  type Bound,
  type EntrySlice,
  estimateMatching,
  type Leaf,
  type Ranked,
  search,
} from './leaf.ts';

/** Pairs in a block, beyond which it is split; moving so many takes well under a microsecond. */
const FULL = 512;
/** Pairs in a block after loading, roughly: soon sorted, and few blocks to choose from. */
const LOADED = 1024;
const MOST_BLOCKS = 256;
/** Pairs that are dealt out in one slice of work. */
const SLICE = 8192;
/** Reads of a single key that look through what was loaded before it is dealt out; see `matching`. */
const PASSES = 16;
/** Entries of distinct keys that are turned round at once. */
const BATCH = 64;

/**
 * Pairs of key and entry, ordered by key and then by rank: a list of blocks.
 *
 * Loading sorts nothing. It only chooses bounds from a sample; the first read that needs it deals the pairs
 * out to unsorted blocks (about 20 ms for 100,000, a pass over them 1), and a block is sorted when a read comes to it, or by
 * `sorting` in the background.
 *
 * A run is good until the next change; whoever reads takes what it needs before.
 */
export class SortedPairs<K, E extends Ranked> {
  readonly #compare: (a: K, b: K) => number;
  /** Whether a list that is loaded stands for the keys in it. */
  readonly #multi: boolean;
  #blocks: Leaf<K, E>[] = [];
  /** Loaded and not yet dealt out, from `#dealt` on. */
  #keys: readonly K[] = [];
  #entries: readonly E[] = [];
  #dealt = 0;
  #passes = 0;

  constructor(compare: (a: K, b: K) => number, multi: boolean) {
    this.#compare = compare;
    this.#multi = multi;
  }

  /** Takes pairs in any order; only into an empty list, and the arrays must not change any more. */
  load(keys: readonly K[], entries: readonly E[]): void {
    this.#keys = keys;
    this.#entries = entries;
    const wanted = 4 * Math.min(MOST_BLOCKS, Math.ceil(keys.length / LOADED));
    const sample: { low: K; lowRank: number }[] = [];
    for (let part = 0; part < wanted; part++) {
      const at = Math.floor((part * keys.length) / wanted);
      const keysThere = this.#keysAt(at);
      const low = keysThere[part % keysThere.length];
      if (low !== undefined) sample.push({ low, lowRank: (entries[at] as E).rank });
    }
    sample.sort((a, b) => this.#compare(a.low, b.low) || a.lowRank - b.lowRank);
    this.#blocks = sample
      .filter((_, index) => index % 4 === 0)
      .map((bound) => ({ ...bound, keys: [], entries: [], sorted: true }));
  }

  add(key: K, entry: E): void {
    const number = this.#home(key, entry.rank);
    const block = this.#blocks[number] as Leaf<K, E>;
    const { keys, entries } = block;
    const at = block.sorted ? search(block, this.from(key, entry.rank)) : keys.length;
    keys.splice(at, 0, key);
    entries.splice(at, 0, entry);
    if (!block.sorted || keys.length <= FULL) return;
    // What grows at its end, as keys of time do, leaves full blocks behind.
    this.#cut(number, at === FULL ? FULL : FULL / 2);
  }

  /** Whether there was such a pair. */
  remove(key: K, order: number): boolean {
    const place = this.#find(key, order);
    if (!place) return false;
    const { keys, entries } = this.#blocks[place.number] as Leaf<K, E>;
    keys.splice(place.at, 1);
    entries.splice(place.at, 1);
    if (keys.length === 0) this.#blocks.splice(place.number, 1);
    return true;
  }

  /** Puts another entry of the same rank in the place of one. */
  replace(key: K, entry: E): void {
    const place = this.#find(key, entry.rank);
    if (place) (this.#blocks[place.number] as Leaf<K, E>).entries[place.at] = entry;
  }

  /** The bound before a pair; without a rank, before every pair of the key. */
  from(key: K, order = Number.NEGATIVE_INFINITY): Bound<K> {
    const compare = this.#compare;
    return (other, otherOrder) => {
      const difference = compare(other, key);
      return difference > 0 || (difference === 0 && otherOrder >= order);
    };
  }

  /** The pairs past `low` and not past `high`. */
  *runs(low: Bound<K>, high: Bound<K>): Generator<EntrySlice<E>> {
    this.#deal(Number.POSITIVE_INFINITY);
    let { number, at: from } = this.#seek(low);
    for (; number < this.#blocks.length; number++) {
      const block = this.#sorted(number);
      const { entries } = block;
      const to = search(block, high);
      if (to > from) yield { entries, from, to };
      if (to < entries.length) return;
      from = 0;
    }
  }

  /** The same by descending key, equal keys still by ascending rank; the bounds must not look at ranks. */
  *reversed(low: Bound<K>, high: Bound<K>): Generator<EntrySlice<E>> {
    this.#deal(Number.POSITIVE_INFINITY);
    let { number, at } = this.#seek(high);
    for (;;) {
      while (at === 0) {
        if (number === 0) return;
        const after = this.#blocks.length - number;
        this.#sorted(number - 1);
        number = this.#blocks.length - after - 1;
        at = (this.#blocks[number] as Leaf<K, E>).keys.length;
      }
      const { keys, entries } = this.#blocks[number] as Leaf<K, E>;
      const single: E[] = [];
      let key = keys[at - 1] as K;
      while (at > 1 && single.length < BATCH && low(key, 0)) {
        const before = keys[at - 2] as K;
        if (this.#compare(before, key) === 0) break;
        single.push(entries[--at] as E);
        key = before;
      }
      if (single.length > 0) yield { entries: single, from: 0, to: single.length };
      else if (!low(key, 0)) return;
      else {
        const start = this.from(key);
        yield* this.runs(start, (other) => this.#compare(other, key) > 0);
        ({ number, at } = this.#seek(start));
      }
    }
  }

  /**
   * The entries of a key by rank, for as long as most of what was loaded lies there as it came:
   * one pass over it answers the first questions after a start sooner than dealing it out would.
   */
  matching(wanted: K): E[] | undefined {
    if (this.#dealt === this.#keys.length || this.#passes++ >= PASSES) return undefined;
    const found: E[] = [];
    // Nothing else equals a string.
    const same: (key: K) => boolean =
      typeof wanted === 'string'
        ? (key) => key === wanted
        : (key) => this.#compare(key, wanted) === 0;
    const keys = this.#keys;
    for (let at = this.#dealt; at < keys.length; at++) {
      const key = keys[at] as K;
      if (this.#multi && Array.isArray(key) ? key.some(same) : same(key)) {
        found.push(this.#entries[at] as E);
      }
    }
    for (const { keys, entries } of this.#blocks) {
      for (let at = 0; at < keys.length; at++) {
        if (same(keys[at] as K)) found.push(entries[at] as E);
      }
    }
    return found.sort((a, b) => a.rank - b.rank);
  }

  /** How many pairs are between two bounds; a guess from a sample where they are not sorted yet. */
  estimate(low: Bound<K>, high: Bound<K>): number {
    const waiting = this.#keys.length - this.#dealt;
    let count = estimateMatching(waiting, (at) => this.#keysAt(this.#dealt + at), low, high);
    const last = this.#blockBefore(high);
    for (let number = this.#blockBefore(low); number <= last; number++) {
      const block = this.#blocks[number];
      if (!block) break;
      const { keys, sorted } = block;
      count += sorted
        ? Math.max(0, search(block, high) - search(block, low))
        : estimateMatching(keys.length, (at) => [keys[at] as K], low, high);
    }
    return count;
  }

  /** Sorts what was loaded, slice by slice; each takes a few milliseconds at most. */
  *sorting(): Generator<void> {
    while (this.#dealt < this.#keys.length) {
      this.#deal(SLICE);
      yield;
    }
    for (let number = 0; number < this.#blocks.length; number++) {
      if (this.#blocks[number]?.sorted) continue;
      this.#sorted(number);
      yield;
    }
  }

  #keysAt(at: number): readonly K[] {
    const key = this.#keys[at] as K;
    return this.#multi && Array.isArray(key) ? key : [key];
  }

  #deal(most: number): void {
    const end = Math.min(this.#keys.length, this.#dealt + most);
    if (this.#dealt === end) return;
    for (; this.#dealt < end; this.#dealt++) {
      const entry = this.#entries[this.#dealt] as E;
      const key = this.#keys[this.#dealt] as K;
      if (!this.#multi || !Array.isArray(key)) this.#put(key, entry);
      else for (const item of key) this.#put(item, entry);
    }
    if (end < this.#keys.length) return;
    this.#keys = this.#entries = [];
    this.#dealt = 0;
  }

  #put(key: K, entry: E): void {
    const block = this.#blocks[this.#home(key, entry.rank)] as Leaf<K, E>;
    block.keys.push(key);
    block.entries.push(entry);
    block.sorted = false;
  }

  /** The block that a pair belongs to. */
  #home(key: K, order: number): number {
    const blocks = this.#blocks;
    if (blocks.length === 0) {
      blocks.push({ low: key, lowRank: order, keys: [], entries: [], sorted: true });
    }
    let low = 1;
    let high = blocks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const block = blocks[middle] as Leaf<K, E>;
      if ((this.#compare(block.low, key) || block.lowRank - order) > 0) high = middle;
      else low = middle + 1;
    }
    return low - 1;
  }

  /** The last block that has anything before a bound, or the first. */
  #blockBefore(past: Bound<K>): number {
    const blocks = this.#blocks;
    let low = 1;
    let high = blocks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const block = blocks[middle] as Leaf<K, E>;
      if (past(block.low, block.lowRank)) high = middle;
      else low = middle + 1;
    }
    return low - 1;
  }

  /** Where the pairs past a bound begin. */
  #seek(past: Bound<K>): { number: number; at: number } {
    for (;;) {
      const number = this.#blockBefore(past);
      const block = this.#blocks[number];
      if (!block) return { number, at: 0 };
      if (block.sorted) return { number, at: search(block, past) };
      this.#sorted(number);
    }
  }

  #find(key: K, order: number): { number: number; at: number } | undefined {
    this.#deal(Number.POSITIVE_INFINITY);
    this.#sorted(this.#home(key, order));
    const number = this.#home(key, order); // another one, if sorting has cut it
    const block = this.#blocks[number] as Leaf<K, E>;
    const at = search(block, this.from(key, order));
    const found =
      block.entries[at]?.rank === order && this.#compare(block.keys[at] as K, key) === 0;
    return found ? { number, at } : undefined;
  }

  /** The block, sorted; when it was not, it is cut where it is too long, and what follows moves up. */
  #sorted(number: number): Leaf<K, E> {
    const block = this.#blocks[number] as Leaf<K, E>;
    if (block.sorted) return block;
    const keys = block.keys.slice();
    const entries = block.entries.slice();
    const places = Array.from(keys.keys()).sort(
      (a, b) =>
        this.#compare(keys[a] as K, keys[b] as K) ||
        (entries[a] as E).rank - (entries[b] as E).rank,
    );
    places.forEach((place, at) => {
      block.keys[at] = keys[place] as K;
      block.entries[at] = entries[place] as E;
    });
    block.sorted = true;
    for (let at = Math.floor((places.length - 1) / FULL) * FULL; at > 0; at -= FULL) {
      this.#cut(number, at);
    }
    return block;
  }

  /** Makes a block of the pairs of another from `at` on. */
  #cut(number: number, at: number): void {
    const block = this.#blocks[number] as Leaf<K, E>;
    const keys = block.keys.splice(at);
    const entries = block.entries.splice(at);
    const bound = { low: keys[0] as K, lowRank: (entries[0] as E).rank };
    this.#blocks.splice(number + 1, 0, { ...bound, keys, entries, sorted: true });
  }
}
