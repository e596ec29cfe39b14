import { type IndexDefinition, indexName } from '../../query/index/index-definition.ts';
import type { EntrySlice } from '../../query/index/leaf.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { CollectionContext } from '../collections/collection-context.ts';
import type { IndexSlot } from '../documents/index-slot.ts';
import type { ExpirySettings } from '../protocol/settings.ts';
import type { ExpiryRules, Hides } from './expiry-rules.ts';

/** The oldest time that a Date can hold. */
const FIRST = new Date(-8.64e15);

/**
 * When the records of a collection expire. Their times are the keys of an index, which is stored and kept as any other: opening
 * reads no document for it.
 *
 * Invariant: what has expired by {@link now} is never shown. Its removal follows, and decides about nothing.
 */
export class Expiry implements ExpiryRules {
  readonly definition: IndexDefinition;
  /** Called when a read has come upon something that has expired. */
  behind: () => void = () => undefined;
  readonly #context: CollectionContext;
  readonly #lifetime: number;
  /** Versions of documents that the rules are for. In documents of another version the field may mean something else. */
  readonly #versions = new Set<number>();
  /** The highest time so far: a clock that is set back shows nothing again. */
  #latest = Number.NEGATIVE_INFINITY;

  constructor(context: CollectionContext, { field, seconds }: ExpirySettings) {
    const fields = [field];
    this.definition = { name: indexName(fields), fields, unique: false, multi: false };
    this.#context = context;
    this.#lifetime = seconds * 1000;
  }

  countFor(version: number): void {
    this.#versions.add(version);
  }

  /** The time that counts. Nothing expires while changes are replayed: they were made before it did. */
  now(): number {
    return this.#context.isRecovered() ? this.#time() : Number.NEGATIVE_INFINITY;
  }

  #time(): number {
    this.#latest = Math.max(this.#latest, this.#context.clock.now());
    return this.#latest;
  }

  /** When a record expires, in Unix milliseconds; no number, or infinite, where it never does. */
  dueOf(record: StoredRecord): number {
    const key = this.#index?.keyOf(record);
    return key instanceof Date ? key.getTime() + this.#lifetime : Number.POSITIVE_INFINITY;
  }

  isHidden(record: StoredRecord): boolean {
    const due = this.dueOf(record);
    // Without a look at the clock for what never expires.
    const hidden = due < Number.POSITIVE_INFINITY && due <= this.now();
    if (hidden) this.behind();
    return hidden;
  }

  /** What is hidden now; `undefined` where nothing is. */
  hiding(): Hides | undefined {
    const now = this.now();
    if (!(this.first() <= now)) return undefined;
    this.behind();
    return this.hidingAt(now);
  }

  /** What has expired by a time. */
  hidingAt(time: number): Hides {
    return (record) => this.dueOf(record) <= time;
  }

  /** When the next record expires, or has expired. */
  first(): number {
    for (const { entries, from } of this.#slices([]))
      return this.dueOf(entries[from] as StoredRecord);
    return Number.POSITIVE_INFINITY;
  }

  /** How many records are hidden. */
  get hidden(): number {
    let count = 0;
    for (const { from, to } of this.#due()) count += to - from;
    return count;
  }

  /** Those records, first the one that expired first, at most so many. */
  expired(most: number, isLeftOut: (record: StoredRecord) => boolean): StoredRecord[] {
    const found: StoredRecord[] = [];
    for (const { entries, from, to } of this.#due()) {
      for (let at = from; at < to; at++) {
        if (found.length === most) return found;
        const record = entries[at] as StoredRecord;
        if (!isLeftOut(record)) found.push(record);
      }
    }
    return found;
  }

  /** Makes a key free. @returns whether it is. */
  vacate(key: string): boolean {
    const { records, versions } = this.#context;
    const record = records.get(key);
    if (!record) return true;
    // What a replayed change has inserted took the place of a record that had expired.
    const isReplay = !this.#context.isRecovered() && Number.isFinite(this.dueOf(record));
    if (!isReplay && !this.#hasExpired(record)) return false;
    versions.delete(record);
    return true;
  }

  /** Removes a record if it has expired: another one needs its key in a unique index. @returns whether it has. */
  evict(record: StoredRecord): boolean {
    const { records, versions, replica } = this.#context;
    // A new version is in the index before it is among the records.
    if (records.get(record.key) !== record || !this.#hasExpired(record)) return false;
    if (replica?.expire(record.key) === false) versions.delete(record);
    else versions.expire(record);
    return true;
  }

  /** By the clock, whatever is being replayed. */
  #hasExpired(record: StoredRecord): boolean {
    return this.dueOf(record) <= this.#time();
  }

  /** `undefined` while it is being built, and for documents that the rules are not for. */
  get #index(): IndexSlot | undefined {
    const { indexes, records } = this.#context;
    return this.#versions.has(records.log.version) ? indexes.expiring : undefined;
  }

  #due(): Iterable<EntrySlice<StoredRecord>> {
    const time = this.now() - this.#lifetime;
    return time >= FIRST.getTime() ? this.#slices([new Date(time)]) : [];
  }

  /** The records that ever expire, up to a key. */
  #slices(to: readonly Date[]): Iterable<EntrySlice<StoredRecord>> {
    const range = { from: [FIRST], to, fromOpen: false, toOpen: false };
    return this.#index?.index.slices(range, false) ?? [];
  }
}
