import { nextTurn } from '../../async/next-turn.ts';
import type { SerialQueue } from '../../async/serial-queue.ts';
import { asCairnError } from '../../errors/errors.ts';
import type { ExpirySettings } from '../../protocol/settings.ts';
import { type IndexDefinition, indexName } from '../../query/index/index-definition.ts';
import type { EntrySlice } from '../../query/index/leaf-list.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { CollectionContext } from '../collection-context.ts';
import type { DocumentIndex } from '../documents/document-index.ts';
import { IndexDeclaration } from '../documents/index-keeper.ts';
import type { LiveQueries } from '../live/live-queries.ts';
import type { ExpiryRules, Hides } from '../records/record-store.ts';

/** Records that are removed in one turn: a few milliseconds. */
const SLICE = 256;

/**
 * Milliseconds until the clock is looked at again, at most. Timers stand still while a computer
 * sleeps, take no more than 24.8 days, and do not follow a clock that is set.
 */
const LOOK_MS = 15_000;

/** The same while changes of an earlier engine are replayed. */
const RECOVERY_MS = 200;

interface SweptCollection {
  /** The versions of documents that the rules are for. */
  readonly versions: ReadonlySet<number>;
  readonly queue: SerialQueue;
  readonly lives: LiveQueries;
  /** Must be called after changes: saves them, and tells live queries of them. */
  readonly settle: () => void;
}

/**
 * Removes a record that has expired. That is no change of a caller's: a replica does not learn of
 * it.
 */
function expire({ records, indexes, events }: CollectionContext, record: StoredRecord): void {
  indexes.delete(record);
  records.delete(record);
  events.changed(record.key, 'delete');
}

/**
 * Removes what has expired, slice by slice, as requests of its own: others come in between. A
 * removal is saved, and live queries and `change` events tell of it, but it is no change for the
 * server of a replication.
 */
export class ExpirySweep {
  readonly #context: CollectionContext;
  readonly #expiry: Expiry;
  readonly #collection: SweptCollection;
  #state: 'new' | 'started' | 'stopped' = 'new';
  /** The next look at the clock, by the monotonic one. */
  #next: { readonly at: number; readonly cancel: () => void } | undefined;
  #running: Promise<void> | undefined;
  /** Whether all that has expired has to be pushed to a server first. */
  #isHeld = false;

  /** @param context Gets the rules, and an index of its own: without it nothing is answered. */
  constructor(context: CollectionContext, settings: ExpirySettings, collection: SweptCollection) {
    const expiry = new Expiry(context, settings, collection.versions);
    this.#context = context;
    this.#expiry = expiry;
    this.#collection = collection;
    context.records.expiry = expiry;
    // It counts for documents of every version.
    context.keeper.own = new IndexDeclaration({ indexes: [expiry.definition], version: 0 });
    expiry.behind = () => this.#lookIn(0);
  }

  /** Must be called when the collection is open. */
  start(): void {
    this.#state = 'started';
    this.check();
  }

  /** Removes nothing more, and ends the timer. */
  stop(): void {
    this.#state = 'stopped';
    this.#next?.cancel();
    this.#next = undefined;
  }

  /** Must be called after changes. */
  check(): void {
    const first = this.#expiry.first();
    if (!Number.isFinite(first)) return;
    const left = this.#context.isRecovered() ? first - this.#expiry.now() : RECOVERY_MS;
    this.#lookIn(Math.min(Math.max(left, 0), LOOK_MS));
  }

  /** Removes all that has expired, unless it has to be pushed first. */
  async drain(): Promise<void> {
    // It may be opening.
    await this.#context.keeper.own?.pending;
    await this.#running;
    await this.#run();
  }

  #lookIn(ms: number): void {
    if (this.#state !== 'started' || this.#running) return;
    const { clock } = this.#context;
    const wait = this.#isHeld ? LOOK_MS : ms;
    const at = clock.elapsed() + wait;
    if (this.#next && this.#next.at <= at) return;
    this.#next?.cancel();
    const look = (): void => {
      this.#next = undefined;
      this.#isHeld = false;
      void this.#run();
    };
    this.#next = { at, cancel: clock.after(wait, look, true) };
  }

  #run(): Promise<void> {
    this.#running ??= this.#sweep()
      .catch((error: unknown) => {
        this.#isHeld = true;
        this.#context.events.failed(asCairnError(error));
      })
      .finally(() => {
        this.#running = undefined;
        this.check();
      });
    return this.#running;
  }

  async #sweep(): Promise<void> {
    const { queue, lives, settle } = this.#collection;
    // At once, not slice by slice.
    if (this.#expiry.hidden > SLICE) lives.reload();
    for (;;) {
      const removed = await queue.enter(true, () => this.#removeSlice());
      if (removed > 0) {
        settle();
        // No batch of a client does.
        this.#context.events.hub.sendChanges();
      }
      if (removed < SLICE) return;
      await nextTurn();
    }
  }

  /** @returns how many it has removed. */
  #removeSlice(): number {
    const { availability, replica } = this.#context;
    if (availability.error || this.#state === 'stopped') return 0;
    const isUnpushed = ({ key }: StoredRecord) => replica?.expire(key) === false;
    const expired = this.#expiry.expired(SLICE, isUnpushed);
    for (const record of expired) expire(this.#context, record);
    this.#isHeld = expired.length < SLICE && this.#expiry.hidden > 0;
    return expired.length;
  }
}

/** The oldest time that a Date can hold. */
const FIRST = -8.64e15;

/**
 * When the records of a collection expire. Their times are the keys of an index, which is stored
 * and kept as any other: opening reads no document for it.
 *
 * Invariant: what has expired by {@link now} is never shown. Its removal follows, and decides about
 * nothing. docs/decisions/038-expiry.md has the reasons.
 */
export class Expiry implements ExpiryRules {
  readonly definition: IndexDefinition;
  /** Called when a read has come upon something that has expired. */
  behind: () => void = () => undefined;
  readonly #context: CollectionContext;
  readonly #lifetime: number;
  /**
   * Versions of documents that the rules are for. In documents of another version the field may
   * mean something else.
   */
  readonly #versions: ReadonlySet<number>;
  /** The clock as it was last seen. */
  #seen = Number.NEGATIVE_INFINITY;
  #setBacks = 0;
  /** What had expired before the clock was set back, with the number of that: it stays hidden. */
  readonly #gone = new WeakMap<StoredRecord, number>();
  /** Those of them that are not removed yet, and some that are. */
  readonly #left = new Set<StoredRecord>();

  constructor(
    context: CollectionContext,
    { field, seconds }: ExpirySettings,
    versions: ReadonlySet<number>,
  ) {
    const fields = [field];
    this.definition = { name: indexName(fields), fields, unique: false, multi: false };
    this.#context = context;
    this.#lifetime = seconds * 1000;
    this.#versions = versions;
  }

  /** The time that counts: nothing expires while changes from before it are replayed. */
  now(): number {
    if (!this.#context.isRecovered()) return Number.NEGATIVE_INFINITY;
    const now = this.#context.clock.now();
    if (now < this.#seen) {
      this.#setBacks++;
      for (const record of recordsOf(this.#due(this.#seen, now))) {
        this.#gone.set(record, this.#setBacks);
        this.#left.add(record);
      }
    }
    this.#seen = now;
    return now;
  }

  /** When a record expires, in Unix milliseconds; no number, or infinite, where it never does. */
  dueOf(record: StoredRecord): number {
    const key = this.#index?.keyOf(record);
    return key instanceof Date ? key.getTime() + this.#lifetime : Number.POSITIVE_INFINITY;
  }

  isHidden(record: StoredRecord): boolean {
    // Without a look at the clock for what never expires.
    const hidden =
      this.dueOf(record) < Number.POSITIVE_INFINITY && this.hidingAt(this.now())(record);
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

  hidingAt(time: number): Hides {
    const setBacks = this.#setBacks;
    return (record) =>
      this.dueOf(record) <= time || (this.#gone.get(record) ?? Number.NaN) <= setBacks;
  }

  /** When the next record expires, or has expired. */
  first(): number {
    if (this.#left.size > 0) return this.#seen;
    for (const record of recordsOf(this.#slices(FIRST))) return this.dueOf(record);
    return Number.POSITIVE_INFINITY;
  }

  get hidden(): number {
    const now = this.now();
    let count = 0;
    for (const { from, to } of this.#due(now)) count += to - from;
    for (const _ of this.#goneBefore(now)) count++;
    return count;
  }

  /** Those records, first the one that expired first, at most so many. They must be removed. */
  expired(most: number, isLeftOut: (record: StoredRecord) => boolean): StoredRecord[] {
    const now = this.now();
    const found: StoredRecord[] = [];
    for (const hidden of [recordsOf(this.#due(now)), this.#goneBefore(now)]) {
      for (const record of hidden) {
        if (found.length === most) return found;
        if (!isLeftOut(record)) found.push(record);
      }
    }
    return found;
  }

  /** Makes a key free. @returns whether it is. */
  vacate(key: string): boolean {
    const { records, versions } = this.#context;
    const record = records.table.get(key);
    if (!record) return true;
    // What a replayed change has inserted took the place of a record that had expired.
    const isReplay = !this.#context.isRecovered() && Number.isFinite(this.dueOf(record));
    if (!isReplay && !this.#hasExpired(record)) return false;
    versions.delete(record);
    return true;
  }

  /**
   * Removes a record if it has expired: another one needs its key in a unique index. @returns
   * whether it has.
   */
  evict(record: StoredRecord): boolean {
    const { records, versions, replica } = this.#context;
    // A new version is in the index before it is among the records.
    if (records.table.get(record.key) !== record || !this.#hasExpired(record)) return false;
    if (replica?.expire(record.key) === false) versions.delete(record);
    else expire(this.#context, record);
    return true;
  }

  /** By the clock, whatever is being replayed. */
  #hasExpired(record: StoredRecord): boolean {
    return this.hidingAt(this.#context.clock.now())(record);
  }

  /** `undefined` while it is being built, and for documents that the rules are not for. */
  get #index(): DocumentIndex | undefined {
    const { indexes, records } = this.#context;
    return this.#versions.has(records.log.version) ? indexes.expiring : undefined;
  }

  /** What is there, has expired before the clock was set back, and has not by a time. */
  *#goneBefore(now: number): Generator<StoredRecord> {
    for (const record of this.#left) {
      if (this.#context.records.table.get(record.key) !== record) this.#left.delete(record);
      else if (this.dueOf(record) > now) yield record;
    }
  }

  /** The records that expire by a time, and after another. */
  #due(by: number, after = Number.NEGATIVE_INFINITY): Iterable<EntrySlice<StoredRecord>> {
    const to = by - this.#lifetime;
    return to >= FIRST ? this.#slices(Math.max(FIRST, after - this.#lifetime), [new Date(to)]) : [];
  }

  /** The records that ever expire, from one key up to another. */
  #slices(from: number, to: readonly Date[] = []): Iterable<EntrySlice<StoredRecord>> {
    const range = { from: [new Date(from)], to, fromOpen: from > FIRST, toOpen: false };
    return this.#index?.slices(range, false) ?? [];
  }
}

function* recordsOf(slices: Iterable<EntrySlice<StoredRecord>>): Generator<StoredRecord> {
  for (const { entries, from, to } of slices)
    for (let at = from; at < to; at++) yield entries[at] as StoredRecord;
}
