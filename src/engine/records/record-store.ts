import { type Body, peek } from '../../codec/body.ts';
import { compactLog } from '../../storage/log/compact-log.ts';
import type { Attachment } from '../../storage/log/log-writes.ts';
import type { SegmentLog } from '../../storage/log/segment-log.ts';
import { segmentLost } from '../../storage/segments/lost-data.ts';
import type { SegmentBodies } from '../../storage/segments/segment.ts';
import { type StoredRecord, savedVersion } from '../../storage/segments/stored-record.ts';
import { type Watermark, Watermarks } from '../../storage/segments/watermarks.ts';
import { type IdempotencyKey, watermarkKey } from '../protocol/idempotency-key.ts';
import type { Clock } from '../scheduling/clock.ts';
import { type Coroutine, wait } from '../scheduling/coroutine.ts';
import { BodyLoader } from './body-loader.ts';
import { DecodedDocuments } from './decoded-documents.ts';
import type { FoldedRecords } from './folded-records.ts';
import { PendingChanges } from './pending-changes.ts';
import { RecordTable } from './record-table.ts';

/** So many values are decoded in one go without blocking anybody. */
const FEW = 1000;

/**
 * Keyed records: the newest version of each, in memory at least by where it rests, with the changes that
 * are not saved yet. Both collection types stand on it; what a record means is theirs.
 *
 * Every read sees every change made before it, saved or not.
 */
export class RecordStore {
  readonly log: SegmentLog;
  readonly #clock: Clock;
  readonly #caching: boolean;
  readonly #records = new RecordTable();
  /** The decoded values of all records, in order. */
  #decoded: DecodedDocuments | undefined;
  /** Whether there has been such a list since the cache was cleared. */
  #hasDecoded = false;
  #pending = new PendingChanges();
  /** Applied changes of each client, saved or not. */
  readonly #applied = new Watermarks();
  /** Watermarks of saved changes that {@link takeReleased} has not returned yet. */
  #released: Watermark[] = [];
  /** What the save under way is writing. */
  #saving: PendingChanges | undefined;
  #nextRank = 1;
  #loader: BodyLoader | undefined;
  /** Works that read from segments by their number, which compaction must not take from under them. */
  #readers = 0;
  #compacting = false;
  /** Whether every record has its body; may be false when they do, never the other way round. */
  #resident = true;

  constructor(log: SegmentLog, clock: Clock, caching: boolean) {
    this.log = log;
    this.#clock = clock;
    this.#caching = caching;
  }

  get size(): number {
    return this.#records.size;
  }

  /** All flags that any record has, and perhaps some that none has any more. */
  get flags(): number {
    return this.#records.flags;
  }

  /** Changes not yet in storage, those of the save under way included. */
  get unsaved(): number {
    return this.#pending.size + (this.#saving?.size ?? 0);
  }

  /** Unix time of the oldest unsaved change. */
  get unsavedSince(): number | undefined {
    return (this.#saving?.since ?? this.#pending.since)?.now;
  }

  /** Changes that the next save will write, and when the first was made, by the monotonic clock. */
  get waiting(): { readonly changes: number; readonly since: number | undefined } {
    return { changes: this.#pending.changeCount, since: this.#pending.since?.elapsed };
  }

  /** Whether a client's change is applied, saved or not. */
  isApplied(origin: IdempotencyKey): boolean {
    return this.#applied.has(watermarkKey(origin), origin.number);
  }

  /** Notes that a client's change is applied. Must be called in the same turn as the change. */
  noteApplied(origin: IdempotencyKey): void {
    const key = watermarkKey(origin);
    this.#applied.note(key, origin.number, this.#clock.now());
    this.#pending.handles.add(key);
  }

  /** Watermarks of the clients whose changes became durable since the last call. */
  takeReleased(): readonly Watermark[] {
    const released = this.#released;
    this.#released = [];
    if (this.unsaved === 0 && this.#pending.handles.size > 0) {
      // A document inserted and deleted between two saves leaves nothing to save.
      released.push(...this.#watermarksOf(this.#pending));
      this.#pending.handles.clear();
    }
    return released;
  }

  /** The watermarks of all applied changes, saved or not. */
  get watermarks(): readonly Watermark[] {
    return [...this.#applied];
  }

  /** Must be called once the log is open. */
  loadWatermarks(): void {
    this.#applied.merge(this.log.watermarks);
  }

  #watermarksOf({ handles }: PendingChanges): Watermark[] {
    return Array.from(handles, (key) => this.#applied.get(key) as Watermark);
  }

  /** Whether all bodies are in memory, so that no read has to wait. */
  get resident(): boolean {
    return this.#resident;
  }

  get(key: string): StoredRecord | undefined {
    return this.#records.get(key);
  }

  keys(): IterableIterator<string> {
    return this.#records.keys();
  }

  /** All records in order, as of now: the array never changes. */
  list(): readonly StoredRecord[] {
    return this.#records.list();
  }

  /**
   * The decoded values of all records, in order, where nearly all are kept; scans run over them several
   * times faster than over records.
   */
  decoded(): DecodedDocuments | undefined {
    if (!this.#caching || !this.#resident) return undefined;
    if (this.#decoded) return this.#decoded;
    const list = this.list();
    let missing = 0;
    for (const { value } of list) if (value === undefined && ++missing > FEW) return undefined;
    this.#decoded = new DecodedDocuments(
      list.map((record) => {
        record.value ??= peek(record.body as Body);
        return record.value as object;
      }),
    );
    this.#hasDecoded = true;
    return this.#decoded;
  }

  /** How many records there are, if nearly all are kept decoded. */
  get decodedSize(): number | undefined {
    return this.#resident && this.#hasDecoded ? this.size : undefined;
  }

  /** The highest rank so far. */
  get lastRank(): number {
    return this.#nextRank - 1;
  }

  /** Rank for a record that is inserted now. */
  takeRank(): number {
    return this.#nextRank++;
  }

  /** Puts a new version, with its body, in the place of the one before. */
  put(record: StoredRecord): void {
    const before = this.#records.get(record.key);
    if (before) {
      record.previous = this.#mayBeStored(before) ? before : before.previous;
      this.#pending.records.delete(before);
    }
    this.#records.set(record);
    this.#decoded = undefined;
    this.#pending.records.add(record);
    this.#noteChange();
  }

  /** Adds records whose keys nothing has, in order, behind all others. */
  addAll(records: readonly StoredRecord[]): void {
    this.#records.append(records);
    for (const record of records) this.#pending.records.add(record);
    this.#decoded = undefined;
    this.#noteChange(records.length);
  }

  delete(record: StoredRecord): void {
    const { key } = record;
    this.#records.delete(key);
    this.#decoded = undefined;
    this.#pending.records.delete(record);
    // While a failed save may have been stored after all, storage may hold anything that was ever pending.
    const stored =
      this.#mayBeStored(record) || (this.log.inDoubt && !record.previous)
        ? record
        : record.previous;
    // A delete that is pending already knows the version that storage does hold.
    if (stored && !this.#pending.deletes.has(key)) this.#pending.deletes.set(key, stored);
    this.#noteChange();
  }

  /** The body of a record, read from its segment if need be. */
  *body(record: StoredRecord): Coroutine<Body> {
    if (record.body !== undefined) return record.body;
    const release = this.pin();
    try {
      // Compaction may move the record while its segment is being read.
      for (;;) {
        const segment = yield* this.bodies(record.segment);
        const body = this.bodyIn(record, segment);
        if (body !== undefined) return body;
      }
    } finally {
      release();
    }
  }

  /** The bodies of records, those that have to be read all at once. */
  *bodiesOf(records: readonly StoredRecord[]): Coroutine<Body[]> {
    const missing = records.filter((record) => record.body === undefined);
    const read = new Map<number, SegmentBodies>();
    const numbers = new Set(missing.map(({ segment }) => segment));
    if (numbers.size > 0) {
      yield Promise.all(
        Array.from(numbers, async (number) => read.set(number, await this.log.bodies.load(number))),
      );
    }
    const bodies: Body[] = [];
    for (const record of records) {
      // One that was pending may have been saved, and dropped its body, meanwhile.
      bodies.push(this.bodyIn(record, read.get(record.segment)) ?? (yield* this.body(record)));
    }
    return bodies;
  }

  /**
   * The body of a record if it is resident or in this segment; a cached collection keeps it.
   *
   * @throws {StorageError} `data_damaged` when the segment should have it and has not.
   */
  bodyIn(record: StoredRecord, segment: SegmentBodies | undefined): Body | undefined {
    if (record.body !== undefined) return record.body;
    if (record.segment !== segment?.number) return undefined;
    const body = segment.bodies[record.index];
    // Who looks for it elsewhere would look for ever.
    if (body === undefined) throw segmentLost(this.log.name, segment.number);
    if (this.#caching) record.body = body;
    return body;
  }

  /** The bodies of a segment, read if need be. */
  *bodies(number: number): Coroutine<SegmentBodies> {
    const atHand = this.log.bodies.peek(number);
    return atHand ?? (yield* wait(this.log.bodies.load(number)));
  }

  /** Keeps compaction away while something remembers where records rest. Returns the release. */
  pin(): () => void {
    this.#readers++;
    return () => {
      this.#readers--;
      this.#forgetReplaced();
    };
  }

  /** Whether compaction has to wait. */
  get pinned(): boolean {
    return this.#readers > 0;
  }

  /** Takes the place of all records; nothing may be unsaved. Whoever reads the old ones may go on. */
  take({ list, resident, last }: FoldedRecords): void {
    this.#records.replace(list);
    this.#resident = resident;
    this.#nextRank = last + 1;
    this.#decoded = undefined;
  }

  /** Finds out who has which key, slice by slice; whoever wants to know meanwhile need not wait. */
  entering(): Generator<void> {
    return this.#records.entering();
  }

  /** Drops what can be read again from storage. */
  clearCache(): void {
    this.#decoded = undefined;
    this.#hasDecoded = false;
    for (const record of this.list()) {
      record.value = undefined;
      if (record.segment === 0) continue;
      record.body = undefined;
      this.#resident = false;
    }
  }

  /** Makes every body resident, as caching wants it, or joins the load that does. */
  load(): Promise<void> {
    if (this.#resident) return Promise.resolve();
    if (!this.#loader) {
      const release = this.pin();
      const loader = new BodyLoader(
        this.log,
        () => {
          const missing = this.list().filter((record) => record.body === undefined);
          // Here and not when the promise settles: the cache may be cleared in between.
          this.#resident ||= missing.length === 0;
          return missing;
        },
        (record, bodies) => this.bodyIn(record, bodies),
      );
      this.#loader = loader;
      const ended = () => {
        this.#loader = undefined;
        release();
      };
      loader.done.then(ended, ended);
    }
    return this.#loader.done;
  }

  /** Whether a scan comes by the records in order: they are in memory, or come into it in order. */
  get inOrder(): boolean {
    return this.#resident || this.#loader !== undefined;
  }

  /** The body of a record that a scan comes by in order. */
  *bodyInOrder(record: StoredRecord): Coroutine<Body> {
    while (record.body === undefined && this.#loader) yield this.#loader.step;
    return record.body ?? (yield* this.body(record));
  }

  /**
   * Writes what is pending as segments, in one transaction. Must not be called while a save is under way.
   * When it fails, its changes are pending again.
   */
  async save(attach?: Attachment): Promise<number> {
    const saving = this.#pending;
    const changes = saving.size;
    if (changes === 0 && this.log.exists && !attach) return 0;
    this.#pending = new PendingChanges();
    this.#saving = saving;
    try {
      const watermarks = this.#watermarksOf(saving);
      await this.log.append(
        { records: saving.records, deletes: saving.deletes.keys(), watermarks },
        attach,
      );
      this.#released.push(...watermarks);
    } catch (error) {
      this.#pending.restore(saving, (key) => this.#records.get(key));
      throw error;
    } finally {
      this.#saving = undefined;
    }
    for (const stored of saving.deletes.values()) this.#supersede(stored);
    for (const record of saving.records) {
      this.#supersede(record.previous);
      record.previous = undefined;
      if (this.#caching) continue;
      record.body = undefined;
      record.value = undefined;
      this.#resident = false;
    }
    return changes;
  }

  /**
   * Removes what nothing needs any more, and merges segments if that is due. Must not be called while anything
   * is being written, or while records are {@link pinned}.
   *
   * @returns whether there may be more to do.
   */
  async tidy(): Promise<boolean> {
    this.#compacting = true;
    try {
      await this.log.collectGarbage();
      return await compactLog(this.log, (key) => this.#saved(key));
    } finally {
      this.#compacting = false;
      this.#forgetReplaced();
    }
  }

  /** Whoever began to read before a compaction may still want what it replaced. */
  #forgetReplaced(): void {
    if (this.pinned || this.#compacting || this.log.isCompactionInDoubt) return;
    this.log.bodies.forgetReplaced();
  }

  #saved(key: string): StoredRecord | undefined {
    return savedVersion(this.#records.get(key)) ?? savedVersion(this.#pending.deletes.get(key));
  }

  #mayBeStored(record: StoredRecord): boolean {
    return record.segment > 0 || this.#saving?.records.has(record) === true;
  }

  /** What was the newest saved version is so no longer. */
  #supersede(record: StoredRecord | undefined): void {
    const stored = savedVersion(record);
    if (stored) this.#countDead(stored);
  }

  #countDead(record: StoredRecord): void {
    const segment = this.log.segments.get(record.segment);
    if (segment) segment.live -= record.size;
  }

  #noteChange(changes = 1): void {
    if (this.#pending.size === 0) {
      // What was inserted and deleted between two saves leaves nothing to save.
      this.#pending.since = undefined;
      this.#pending.changeCount = 0;
    } else {
      this.#pending.since ??= { elapsed: this.#clock.elapsed(), now: this.#clock.now() };
      this.#pending.changeCount += changes;
    }
  }
}
