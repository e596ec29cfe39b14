import { compileCriteria } from '../criteria/compile-criteria.ts';
import { orderIn } from '../value/collation.ts';
import type { Compare } from '../value/compare-values.ts';
import type { IndexDefinition } from './index-definition.ts';
import {
  type IndexKey,
  isLeftOut,
  isUnkeyed,
  keyReader,
  LEFT_OUT,
  type Scalar,
} from './index-key.ts';
import { boundOf, compareTuples, type KeyRange, WHOLE } from './key-range.ts';
import type { Bound, EntryList, EntrySlice, Leaf, Ranked } from './leaf-list.ts';
import { SortedPairs } from './sorted-pairs.ts';

/** A scalar, or a tuple of them for an index of several fields. */
type Key = Scalar | readonly Scalar[];

type Order = (a: Key, b: Key) => number;

/**
 * Where a read continues: behind the entry with this key, of all fields of the index, and this
 * rank.
 */
export interface IndexPosition {
  readonly key: readonly unknown[];
  readonly rank: number;
}

/**
 * A secondary index in memory: entries by key, equal keys by rank. A rank belongs to one entry at a
 * time.
 *
 * A `unique` index tells the owner of a key; the caller refuses another one. As NULL in SQL, a key
 * takes no part where any of its fields is null, `undefined` or missing. Neither does a value
 * without a key, such as a RegExp.
 *
 * @see IndexKey for documents without a key.
 */
export class SecondaryIndex<E extends Ranked> {
  readonly definition: IndexDefinition;
  /** Reads the key of a document. */
  readonly read: (document: object) => IndexKey;
  /** By rank, the unkeyed entries: every query has to test them, in no order. */
  readonly unkeyed = new Map<number, E>();
  readonly #pairs: SortedPairs<Key, E>;
  readonly #compare: Order;
  readonly #order: Compare;
  #size = 0;

  constructor(definition: IndexDefinition) {
    this.definition = definition;
    this.read = partialReader(definition);
    const order = orderIn(definition.collation);
    this.#order = order;
    const tuples = definition.collation ? tupleOrder(order) : compareTuples;
    this.#compare = definition.fields.length === 1 ? order : (tuples as Order);
    this.#pairs = new SortedPairs<Key, E>(this.#compare, definition);
  }

  /** Number of entries, unkeyed ones included. */
  get size(): number {
    return this.#size;
  }

  /**
   * Loads entries in place of all others, in any order, with their keys in a parallel array. Cheap:
   * {@link sorting} sorts them later. The lists must not change afterwards.
   */
  load(entries: EntryList<E>, keys: readonly IndexKey[]): void {
    const { where } = this.definition;
    this.unkeyed.clear();
    this.#size = where ? keys.filter((key) => !isLeftOut(key)).length : keys.length;
    if (!where && !keys.includes(undefined) && !(this.definition.multi && keys.some(isUnkeyed))) {
      this.#pairs.load(keys as readonly Key[], entries);
      return;
    }
    const keyed: E[] = [];
    const keysOfKeyed: Key[] = [];
    keys.forEach((key, at) => {
      const entry = entries.at(at) as E;
      if (isUnkeyed(key)) this.unkeyed.set(entry.rank, entry);
      if (key === undefined || (where && isLeftOut(key))) return;
      keyed.push(entry);
      keysOfKeyed.push(isUnkeyed(key) ? (this.#keysOf(key) as readonly Scalar[]) : (key as Key));
    });
    this.#pairs.load(keysOfKeyed, keyed);
  }

  add(entry: E, key: IndexKey): void {
    this.#size += this.#counted(key);
    if (isUnkeyed(key)) this.unkeyed.set(entry.rank, entry);
    for (const each of this.#keysOf(key)) this.#pairs.add(each, entry);
  }

  /** Adds entries with their keys in a parallel array, into an empty index as {@link load} does. */
  addAll(entries: EntryList<E>, keys: readonly IndexKey[]): void {
    if (this.#size === 0) this.load(entries, keys);
    else
      keys.forEach((key, at) => {
        this.add(entries.at(at) as E, key);
      });
  }

  /** @param key The key that the entry was added with. */
  remove(entry: E, key: IndexKey): void {
    this.#size -= this.#counted(key);
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
   * The first entry with this key, or with one of the keys of a multi index; and that key.
   * @param except The rank of an entry to leave out.
   */
  owner(key: IndexKey, except?: number): readonly [owner: E, key: Key] | undefined {
    for (const each of this.#keysOf(key)) {
      const point = Array.isArray(each) ? (each as readonly Scalar[]) : [each as Scalar];
      if (point.includes(null)) continue;
      for (const { entries, from, to } of this.slices(
        { ...WHOLE, from: point, to: point },
        false,
      )) {
        for (let at = from; at < to; at++) {
          const entry = entries[at] as E;
          if (entry.rank !== except) return [entry, each];
        }
      }
    }
    return undefined;
  }

  /**
   * The keyed entries of a range, in slices that are valid until the index changes.
   * @param reverse By descending key; equal keys stay in ascending rank.
   * @param start Where to continue.
   */
  slices(range: KeyRange, reverse: boolean, start?: IndexPosition): Iterable<EntrySlice<E>> {
    const pairs = this.#pairs;
    const low = this.#boundAt(range.from, range.fromOpen);
    const high = this.#boundAt(range.to, !range.toOpen);
    if (start) {
      const before = this.#boundAt(start.key, false);
      const behind = this.#boundAt(start.key, true);
      const next: Bound<Key> = (key, rank) =>
        behind(key, rank) || (before(key, rank) && rank > start.rank);
      const lowNext: Bound<Key> = (key, rank) => low(key, rank) && next(key, rank);
      if (!reverse) return pairs.ascending(lowNext, high);
      return chain(
        pairs.ascending(lowNext, (key, rank) => high(key, rank) || behind(key, rank)),
        pairs.descending(low, (key, rank) => high(key, rank) || before(key, rank)),
      );
    }
    if (reverse) return pairs.descending(low, high);
    const found = range.from === range.to ? this.#matching(range) : undefined;
    return found ? [{ entries: found, from: 0, to: found.length }] : pairs.ascending(low, high);
  }

  /** About how many keys a range holds; sorts nothing. */
  estimate(range: KeyRange): number {
    if (range.from.length === 0 && range.to.length === 0) return this.#size;
    return this.#pairs.estimate(
      this.#boundAt(range.from, range.fromOpen),
      this.#boundAt(range.to, !range.toOpen),
    );
  }

  /**
   * All keyed entries, in order, with their keys; sorts them on the way. The index may change
   * between batches: entries that were there all the time are visited once.
   */
  batches(): Generator<Pick<Leaf<unknown, E>, 'keys' | 'entries'>> {
    return this.#pairs.batches();
  }

  /** Whether two keys are the same. */
  isSame(a: unknown, b: unknown): boolean {
    return this.#compare(a as Key, b as Key) === 0;
  }

  /**
   * Sorts loaded entries in slices of a few milliseconds; reads and changes may happen between
   * them.
   */
  sorting(): Generator<void> {
    return this.#pairs.sorting();
  }

  #matching({ from }: KeyRange): E[] | undefined {
    if (from.length < this.definition.fields.length) return undefined;
    return this.#pairs.matching(from.length > 1 ? from : (from[0] as Scalar));
  }

  #counted(key: IndexKey): number {
    return this.definition.where && isLeftOut(key) ? 0 : 1;
  }

  #boundAt(values: readonly unknown[], behind: boolean): Bound<Key> {
    return boundOf(this.definition.fields.length, values, behind, this.#order);
  }

  /** The keys under which a document is listed. */
  #keysOf(key: IndexKey): readonly Key[] {
    if (key === undefined) return [];
    if (this.definition.where && isLeftOut(key)) return [];
    if (!this.definition.multi || !Array.isArray(key)) return [key as Key];
    return isUnkeyed(key) ? key.slice(0, -1) : key;
  }

  #same(a: IndexKey, b: IndexKey): boolean {
    if (a === undefined || b === undefined || isLeftOut(a) !== isLeftOut(b)) return false;
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

function partialReader(definition: IndexDefinition): (document: object) => IndexKey {
  const { where, collation } = definition;
  const read = keyReader(definition);
  if (!where) return read;
  const { test } = compileCriteria(where, collation);
  return (document) => (test(document) ? read(document) : LEFT_OUT);
}

function tupleOrder(order: Compare): typeof compareTuples {
  return (a, b) => compareTuples(a, b, order);
}

function* chain<T>(...parts: readonly Iterable<T>[]): Generator<T> {
  for (const part of parts) yield* part;
}
