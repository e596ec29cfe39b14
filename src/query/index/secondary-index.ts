import { compareScalars } from '../value/compare-scalars.ts';
import type { IndexDefinition } from './index-definition.ts';
import { type IndexKey, isUnkeyed, keyReader, type Scalar } from './index-key.ts';
import { compareTuples, type KeyRange, WHOLE } from './key-range.ts';
import type { Bound, EntrySlice, Ranked } from './leaf.ts';
import { SortedPairs } from './sorted-pairs.ts';

/** A scalar, or a tuple of them for an index of several fields. */
type Key = Scalar | readonly Scalar[];

/** The place in a plan's order from which a read goes on: a key of the index, all fields of it, and a rank. */
export interface IndexPosition {
  readonly key: readonly unknown[];
  readonly rank: number;
}

/**
 * An index: entries by key, equal keys by rank of insertion. A rank belongs to one entry at a time.
 *
 * A `unique` index knows the owner of a key and leaves it to the caller to refuse another. As with NULL in
 * SQL, a document takes no part where any field is null, `undefined` or missing; nor does an odd one.
 */
export class SecondaryIndex<E extends Ranked> {
  readonly definition: IndexDefinition;
  /** What the index keeps of a document, see {@link IndexKey}. */
  readonly keyOf: (document: object) => IndexKey;
  /** By rank, the entries without a usable key: a candidate in every query, in no order. */
  readonly unkeyed = new Map<number, E>();
  readonly #pairs: SortedPairs<Key, E>;
  readonly #compare: (a: Key, b: Key) => number;
  #size = 0;

  constructor(definition: IndexDefinition) {
    this.definition = definition;
    this.keyOf = keyReader(definition);
    this.#compare =
      definition.fields.length === 1
        ? compareScalars
        : (compareTuples as (a: Key, b: Key) => number);
    this.#pairs = new SortedPairs<Key, E>(this.#compare, definition.multi);
  }

  /** Entries, odd ones included. */
  get size(): number {
    return this.#size;
  }

  /**
   * Takes the entries of an empty index at once, in any order, with their keys beside them. Cheap: sorting is
   * left for later, see {@link sorting}. The arrays must not change any more.
   */
  load(entries: readonly E[], keys: readonly IndexKey[]): void {
    this.#size = entries.length;
    if (!keys.includes(undefined) && !(this.definition.multi && keys.some(isUnkeyed))) {
      this.#pairs.load(keys as readonly Key[], entries);
      return;
    }
    const keyed: E[] = [];
    const keysOfKeyed: Key[] = [];
    keys.forEach((key, at) => {
      const entry = entries[at] as E;
      if (isUnkeyed(key)) this.unkeyed.set(entry.rank, entry);
      if (key === undefined) return;
      keyed.push(entry);
      keysOfKeyed.push(isUnkeyed(key) ? (this.#keysOf(key) as readonly Scalar[]) : (key as Key));
    });
    this.#pairs.load(keysOfKeyed, keyed);
  }

  add(entry: E, key: IndexKey): void {
    this.#size++;
    if (isUnkeyed(key)) this.unkeyed.set(entry.rank, entry);
    for (const each of this.#keysOf(key)) this.#pairs.add(each, entry);
  }

  /** Adds entries with their keys beside them; the arrays must not change any more. Into an empty index, as cheap as {@link load}. */
  addAll(entries: readonly E[], keys: readonly IndexKey[]): void {
    if (this.#size === 0) this.load(entries, keys);
    else
      entries.forEach((entry, at) => {
        this.add(entry, keys[at]);
      });
  }

  /** @param key The one it was added with. */
  remove(entry: E, key: IndexKey): void {
    this.#size--;
    if (isUnkeyed(key)) this.unkeyed.delete(entry.rank);
    for (const each of this.#keysOf(key)) this.#pairs.remove(each, entry.rank);
  }

  /** Replaces an entry by its next version, which has the same rank. */
  replace(before: E, after: E, keyBefore: IndexKey, keyAfter: IndexKey): void {
    if (this.#same(keyBefore, keyAfter)) {
      if (isUnkeyed(keyAfter)) this.unkeyed.set(after.rank, after);
      for (const each of this.#keysOf(keyAfter)) this.#pairs.replace(each, after);
    } else {
      this.remove(before, keyBefore);
      this.add(after, keyAfter);
    }
  }

  /**
   * Who has this key, or for a multi index one of its items, and which.
   * @param except The rank of the entry that may have it.
   */
  owner(key: IndexKey, except?: number): readonly [owner: E, key: Key] | undefined {
    for (const each of this.#keysOf(key)) {
      const point = Array.isArray(each) ? (each as readonly Scalar[]) : [each as Scalar];
      if (point.includes(null)) continue;
      for (const { entries, from, to } of this.runs({ ...WHOLE, from: point, to: point }, false)) {
        for (let at = from; at < to; at++) {
          const entry = entries[at] as E;
          if (entry.rank !== except) return [entry, each];
        }
      }
    }
    return undefined;
  }

  /**
   * The entries of a range in runs, odd ones not among them, each run good until the index changes.
   * @param reverse By descending key; equal keys stay in the order of insertion.
   * @param start Where to go on, behind the entry there.
   */
  runs(range: KeyRange, reverse: boolean, start?: IndexPosition): Iterable<EntrySlice<E>> {
    const pairs = this.#pairs;
    const low = this.#past(range.from, range.fromOpen);
    const high = this.#past(range.to, !range.toOpen);
    if (start) {
      const before = this.#past(start.key, false);
      const behind = this.#past(start.key, true);
      const next: Bound<Key> = (key, order) =>
        behind(key, order) || (before(key, order) && order > start.rank);
      const lowNext: Bound<Key> = (key, order) => low(key, order) && next(key, order);
      if (!reverse) return pairs.runs(lowNext, high);
      return chain(
        pairs.runs(lowNext, (key, order) => high(key, order) || behind(key, order)),
        pairs.reversed(low, (key, order) => high(key, order) || before(key, order)),
      );
    }
    if (reverse) return pairs.reversed(low, high);
    const found = range.from === range.to ? this.#matching(range) : undefined;
    return found ? [{ entries: found, from: 0, to: found.length }] : pairs.runs(low, high);
  }

  /** About how many keys are in a range, without sorting anything for it. */
  estimate(range: KeyRange): number {
    if (range.from.length === 0 && range.to.length === 0) return this.#size;
    return this.#pairs.estimate(
      this.#past(range.from, range.fromOpen),
      this.#past(range.to, !range.toOpen),
    );
  }

  /** Sorts what was loaded in slices of a few milliseconds; reads and changes may come in between. */
  sorting(): Generator<void> {
    return this.#pairs.sorting();
  }

  #matching({ from }: KeyRange): E[] | undefined {
    if (from.length < this.definition.fields.length) return undefined;
    return this.#pairs.matching(from.length > 1 ? from : (from[0] as Scalar));
  }

  #past(values: readonly unknown[], behind: boolean): Bound<Key> {
    const least = behind ? 1 : 0;
    if (values.length === 0) return () => !behind;
    if (this.definition.fields.length > 1) {
      return (key) => compareTuples(key as readonly Scalar[], values) >= least;
    }
    const [value] = values;
    return (key) => compareScalars(key, value) >= least;
  }

  /** The keys under which a document is listed. */
  #keysOf(key: IndexKey): readonly Key[] {
    if (key === undefined) return [];
    if (!this.definition.multi || !Array.isArray(key)) return [key as Key];
    return isUnkeyed(key) ? key.slice(0, -1) : key;
  }

  #same(a: IndexKey, b: IndexKey): boolean {
    if (a === undefined || b === undefined) return false;
    if (!this.definition.multi) return this.#compare(a as Key, b as Key) === 0;
    if (isUnkeyed(a) !== isUnkeyed(b)) return false;
    const left = this.#keysOf(a);
    const right = this.#keysOf(b);
    return (
      left.length === right.length &&
      left.every((key, at) => this.#compare(key, right[at] as Key) === 0)
    );
  }
}

function* chain<T>(...parts: readonly Iterable<T>[]): Generator<T> {
  for (const part of parts) yield* part;
}
