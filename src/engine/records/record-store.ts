import { type Body, peek } from '../../codec/body.ts';
import type { AppendWrite } from '../../storage/log/append-write.ts';
import { compactLog } from '../../storage/log/compact-log.ts';
import type { Attachment } from '../../storage/log/log-writes.ts';
import type { SegmentLog } from '../../storage/log/segment-log.ts';
import { type StoredRecord, savedVersion } from '../../storage/segments/stored-record.ts';
import type { Watermark } from '../../storage/segments/watermarks.ts';
import type { Clock } from '../scheduling/clock.ts';
import type { OpenSnapshots } from '../snapshots/open-snapshots.ts';
import { VersionHistory } from '../snapshots/version-history.ts';
import { AppliedChanges } from './applied-changes.ts';
import { CompactionGuard } from './compaction-guard.ts';
import { DecodedDocuments } from './decoded-documents.ts';
import type { FoldedRecords } from './folded-records.ts';
import { PendingChanges } from './pending-changes.ts';
import { RecordBodies } from './record-bodies.ts';
import { RecordTable } from './record-table.ts';

/** A save under way. */
export interface BegunSave {
  /** How many changes it writes. */
  readonly changes: number;
  readonly append: AppendWrite;
  /** Must be called when the write has succeeded. */
  readonly stored: () => void;
  /** As {@link AppendWrite.failed}. */
  readonly failed: AppendWrite['failed'];
}

/** So many values are decoded at once without blocking other requests. */
const FEW = 1000;

/**
 * The newest version of each record, with the unsaved changes. Memory holds at least where a record is stored. Both
 * collection types are built on it.
 *
 * Every read sees every change made before it, saved or not.
 */
export class RecordStore {
  readonly overlay = undefined;
  readonly log: SegmentLog;
  readonly history: VersionHistory;
  readonly bodies: RecordBodies;
  readonly applied: AppliedChanges;
  readonly #clock: Clock;
  readonly #caching: boolean;
  readonly #guard: CompactionGuard;
  readonly #records = new RecordTable();
  /** The decoded values of all records, in order. */
  #decoded: DecodedDocuments | undefined;
  /** Whether there has been such a list since the cache was cleared. */
  #hasDecoded = false;
  #pending = new PendingChanges();
  /** The changes that the save under way writes. */
  #saving: PendingChanges | undefined;
  #nextRank = 1;

  constructor(log: SegmentLog, clock: Clock, caching: boolean, snapshots: OpenSnapshots) {
    this.log = log;
    this.#clock = clock;
    this.#caching = caching;
    this.#guard = new CompactionGuard(log);
    this.bodies = new RecordBodies(log, this.#records, this.#guard, caching);
    this.applied = new AppliedChanges(clock);
    this.history = new VersionHistory(
      snapshots,
      () => this.pin(),
      (record) => this.#saving?.records.has(record) === true,
    );
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

  /** Watermarks of the clients whose changes became durable since the last call. */
  takeReleased(): readonly Watermark[] {
    return this.applied.takeReleased(this.unsaved === 0);
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
    if (!this.#caching || !this.bodies.resident) return undefined;
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
    return this.bodies.resident && this.#hasDecoded ? this.size : undefined;
  }

  /** The highest rank so far. */
  get lastRank(): number {
    return this.#nextRank - 1;
  }

  /** Rank for a record that is inserted now. */
  takeRank(): number {
    return this.#nextRank++;
  }

  /** Puts a new version, with its body. */
  put(record: StoredRecord): void {
    const before = this.#records.get(record.key);
    this.history.note(record, before);
    if (before) {
      record.previous = this.#mayBeStored(before) ? before : before.previous;
      this.#pending.records.delete(before);
    }
    this.#records.set(record);
    this.#decoded = undefined;
    this.#pending.records.add(record);
    this.#noteChange();
  }

  /** Appends records with new keys, in order. */
  addAll(records: readonly StoredRecord[]): void {
    this.history.noteAdded(records);
    this.#records.append(records);
    for (const record of records) this.#pending.records.add(record);
    this.#decoded = undefined;
    this.#noteChange(records.length);
  }

  delete(record: StoredRecord): void {
    const { key } = record;
    this.history.note(record, record);
    this.#records.delete(key);
    this.#decoded = undefined;
    this.#pending.records.delete(record);
    // A failed save may have been stored after all: then storage may hold any record that was ever pending.
    const stored =
      this.#mayBeStored(record) || (this.log.inDoubt && !record.previous)
        ? record
        : record.previous;
    // A pending delete already names the stored version.
    if (stored && !this.#pending.deletes.has(key)) this.#pending.deletes.set(key, stored);
    this.#noteChange();
  }

  /** Keeps compaction away while a reader remembers where records are stored. Returns the release. */
  pin(): () => void {
    return this.#guard.pin();
  }

  /** Whether compaction has to wait. */
  get pinned(): boolean {
    return this.#guard.pinned;
  }

  /** Replaces all records; nothing may be unsaved. Running reads continue with the old ones. */
  take({ list, resident, last }: FoldedRecords): void {
    this.history.noteReplacement();
    this.#records.replace(list);
    this.bodies.replaced(resident);
    this.#nextRank = last + 1;
    this.#decoded = undefined;
  }

  /** Fills the map of keys, slice by slice; lookups meanwhile need not wait. */
  entering(): Generator<void> {
    return this.#records.entering();
  }

  /** Drops what can be read again from storage. */
  clearCache(): void {
    this.#decoded = undefined;
    this.#hasDecoded = false;
    this.bodies.clear();
  }

  /**
   * Takes the pending changes, to write them as segments; `undefined` where there is nothing to write. Must not be
   * called during a write. If the save fails, its changes are pending again.
   */
  beginSave(attach?: Attachment): BegunSave | undefined {
    const saving = this.#pending;
    const changes = saving.size;
    if (changes === 0 && this.log.exists && !attach) return undefined;
    this.#pending = new PendingChanges();
    this.#saving = saving;
    const handles = this.applied.takeUnsaved();
    const watermarks = this.applied.watermarksOf(handles);
    const { records, deletes } = saving;
    const append = this.log.prepareAppend({ records, deletes: deletes.keys(), watermarks }, attach);
    return {
      changes,
      append,
      stored: () => {
        append.stored();
        this.applied.release(watermarks);
        this.#saving = undefined;
        for (const stored of deletes.values()) this.#supersede(stored);
        for (const record of records) {
          this.#supersede(record.previous);
          record.previous = undefined;
          this.bodies.saved(record);
        }
      },
      failed: (undoing) => {
        append.failed(undoing);
        this.#pending.restore(saving, (key) => this.#records.get(key));
        this.applied.restore(handles);
        this.#saving = undefined;
      },
    };
  }

  /**
   * Collects garbage, and merges segments if that is due. Must not be called during a write, or while records are
   * {@link pinned}.
   *
   * @returns whether there may be more to do.
   */
  tidy(): Promise<boolean> {
    return this.#guard.compact(async () => {
      await this.log.collectGarbage();
      return compactLog(this.log, (key) => this.#saved(key));
    });
  }

  #saved(key: string): StoredRecord | undefined {
    return savedVersion(this.#records.get(key)) ?? savedVersion(this.#pending.deletes.get(key));
  }

  #mayBeStored(record: StoredRecord): boolean {
    return record.segment > 0 || this.#saving?.records.has(record) === true;
  }

  /** A newer version is saved, or the record is deleted. */
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
      // A record inserted and deleted between two saves leaves nothing to save.
      this.#pending.since = undefined;
      this.#pending.changeCount = 0;
    } else {
      this.#pending.since ??= { elapsed: this.#clock.elapsed(), now: this.#clock.now() };
      this.#pending.changeCount += changes;
    }
  }
}
