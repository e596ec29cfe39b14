import type { Clock } from '../../async/clock.ts';
import { type Body, peek } from '../../codec/body.ts';
import type { ManagedColumns } from '../../protocol/managed.ts';
import type { IndexDefinition } from '../../query/index/index-definition.ts';
import { valueReader } from '../../query/path/own-property.ts';
import type { Attachment } from '../../storage/log/log-writes.ts';
import type { SegmentLog } from '../../storage/log/segment-log.ts';
import type { RecordPart } from '../../storage/segments/record-part.ts';
import { type StoredRecord, savedVersion } from '../../storage/segments/stored-record.ts';
import type { Watermark } from '../../storage/segments/watermarks.ts';
import type { SnapshotHolder } from './open-snapshots.ts';
import { AppliedChanges, type BegunSave, PendingChanges } from './pending-changes.ts';
import { CompactionGuard, RecordBodies } from './record-bodies.ts';
import type { LoadedRecords } from './table/folded-records.ts';
import { RecordTable } from './table/record-table.ts';

/** Tells of a record whether it is hidden: it has expired, and is not removed yet. */
export type Hides = (record: StoredRecord) => boolean;

/** When the records of a collection expire. */
export interface ExpiryRules {
  /** The index whose keys say when. */
  readonly definition: IndexDefinition;
  /** How many records are hidden. */
  readonly hidden: number;
  /** The time that counts, in Unix milliseconds. */
  now(): number;
  isHidden(record: StoredRecord): boolean;
  /** What is hidden now; `undefined` where nothing is. */
  hiding(): Hides | undefined;
  /** What has expired by a time. */
  hidingAt(time: number): Hides;
  /** As {@link RecordStore.vacate}. */
  vacate(key: string): boolean;
  /** Removes a record if it has expired. @returns whether it has. */
  evict(record: StoredRecord): boolean;
}

/** The version of each record that an operation sees: the newest, or that of a transaction. */
export type Records = Pick<
  RecordStore,
  | 'bodies'
  | 'decoded'
  | 'flags'
  | 'get'
  | 'hides'
  | 'isDecoded'
  | 'keys'
  | 'list'
  | 'log'
  | 'overlay'
  | 'pin'
  | 'size'
  | 'takeRank'
  | 'total'
  | 'vacate'
>;

/**
 * Versions that count in the place of the newest ones, by key; `undefined` where the record does
 * not exist.
 */
export type Overlay = ReadonlyMap<string, StoredRecord | undefined>;

/** The most columns kept: those of the paths that were read first. */
const MOST_COLUMNS = 16;

/**
 * The decoded documents of a collection, in order, as of one moment. What a scan needs of them
 * comes as columns: going over one is ten times faster than fetching the same value from every
 * document.
 */
export class DecodedDocuments {
  readonly documents: readonly object[];
  /** By path; `undefined` for one that was read once. */
  readonly #columns = new Map<string, readonly unknown[] | undefined>();

  constructor(documents: readonly object[]) {
    this.documents = documents;
  }

  /**
   * The values at a dotted path, `undefined` for a missing field; the first array on the path where
   * there is one. Made at the second read: a change drops all columns.
   */
  column(path: string): readonly unknown[] | undefined {
    if (!this.#columns.has(path)) {
      if (this.#columns.size < MOST_COLUMNS) this.#columns.set(path, undefined);
      return undefined;
    }
    const made = this.#columns.get(path) ?? this.documents.map(valueReader(path));
    this.#columns.set(path, made);
    return made;
  }
}

/** So many values are decoded at once without blocking other requests. */
const FEW = 1000;

/**
 * The newest version of each record, with the unsaved changes. Memory holds at least where a record
 * is stored. Both collection types are built on it.
 *
 * Every read sees every change made before it, saved or not. What has expired is hidden from reads,
 * and stays in {@link table} until it is removed.
 */
export class RecordStore {
  /**
   * Where the versions differ from the newest, which indexes know; `undefined` where they do not.
   */
  readonly overlay: Overlay | undefined = undefined;
  /** With `expire_after`. */
  expiry: ExpiryRules | undefined;
  readonly log: SegmentLog;
  readonly bodies: RecordBodies;
  readonly applied: AppliedChanges;
  readonly #clock: Clock;
  readonly #caching: boolean;
  readonly #snapshots: SnapshotHolder;
  readonly guard: CompactionGuard;
  readonly table: RecordTable;
  /** The decoded values of all records, in order. */
  #decoded: DecodedDocuments | undefined;
  /** Whether there has been such a list since the cache was cleared. */
  #hasDecoded = false;
  #pending = new PendingChanges();
  /** The changes that the save under way writes. */
  #saving: PendingChanges | undefined;
  #nextRank = 1;

  constructor(
    log: SegmentLog,
    clock: Clock,
    caching: boolean,
    snapshots: SnapshotHolder,
    guard = new CompactionGuard(),
  ) {
    this.log = log;
    this.#clock = clock;
    this.#caching = caching;
    this.guard = guard;
    this.table = new RecordTable(guard);
    this.bodies = new RecordBodies(log, this.table, guard, caching);
    this.applied = new AppliedChanges(clock);
    this.#snapshots = snapshots;
  }

  /**
   * Tells which records of lists and indexes do not count: they have expired. `undefined` where all
   * do.
   */
  get hides(): Hides | undefined {
    return this.expiry?.hiding();
  }

  get size(): number {
    return this.table.size - (this.expiry?.hidden ?? 0);
  }

  /** All flags that any record has; perhaps some that none has any more. */
  get flags(): number {
    return this.table.flags;
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
    const record = this.table.get(key);
    return record && this.expiry?.isHidden(record) ? undefined : record;
  }

  /** Makes a key free for a new record, if that is possible. @returns whether it is free. */
  vacate(key: string): boolean {
    return this.expiry ? this.expiry.vacate(key) : this.table.get(key) === undefined;
  }

  keys(): Iterable<string> {
    const { hides } = this;
    return hides ? keysOf(this.list(), hides) : this.table.keys();
  }

  /** All records in order, hidden ones too, as of now: the array never changes. */
  list(): readonly StoredRecord[] {
    return this.table.list();
  }

  /**
   * The decoded values of all records, in order, where nearly all are kept; scans run over them
   * several times faster than over records.
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

  /** Whether nearly all records are kept decoded. */
  get isDecoded(): boolean {
    return this.bodies.resident && this.#hasDecoded;
  }

  /** How many records there are, hidden ones too. */
  get total(): number {
    return this.table.size;
  }

  /** Rank for a record that is inserted now. */
  takeRank(): number {
    return this.#nextRank++;
  }

  /** Puts a new version, with its body. */
  put(record: StoredRecord): void {
    const before = this.table.get(record.key);
    this.#snapshots.open?.of(this).note(record, before);
    if (before) {
      record.previous = this.#mayBeStored(before) ? before : before.previous;
      this.#pending.remove(before);
    }
    this.table.set(record);
    this.#decoded = undefined;
    this.#pending.add(record);
    this.#noteChange();
  }

  /** Appends records with new keys, in order; their ranks ascend by one. */
  addAll(part: RecordPart): void {
    this.#snapshots.open?.of(this).noteAdded(part.keys);
    this.table.append(part);
    this.#pending.addPart(part);
    this.#decoded = undefined;
    this.#noteChange(part.length);
  }

  delete(record: StoredRecord): void {
    const { key } = record;
    this.#snapshots.open?.of(this).note(record, record);
    this.table.delete(key);
    this.#decoded = undefined;
    this.#pending.remove(record);
    // A failed save may have been stored after all: then storage may hold any record that was ever
    // pending.
    const stored =
      this.#mayBeStored(record) || (this.log.inDoubt && !record.previous)
        ? record
        : record.previous;
    // A pending delete already names the stored version.
    if (stored && !this.#pending.deletes.has(key)) this.#pending.deletes.set(key, stored);
    this.#noteChange();
  }

  /**
   * Keeps compaction away while a reader remembers where records are stored. Returns the release.
   */
  pin(): () => void {
    return this.guard.pin();
  }

  /** Replaces all records; nothing may be unsaved. Running reads continue with the old ones. */
  take(records: LoadedRecords): void {
    this.#snapshots.open?.of(this).noteReplacement();
    this.open(records);
  }

  /** Takes the records of an opening: no snapshot can have read others. */
  open({ rows, resident, last }: LoadedRecords): void {
    this.table.replace(rows);
    this.bodies.replaced(resident);
    this.#nextRank = last + 1;
    this.#decoded = undefined;
  }

  /** Drops what can be read again from storage. */
  clearCache(): void {
    this.#decoded = undefined;
    this.#hasDecoded = false;
    this.bodies.clear();
  }

  /**
   * Takes the pending changes, to write them as segments; `undefined` where there is nothing to
   * write. Must not be called during a write. If the save fails, its changes are pending again.
   */
  beginSave(attach?: Attachment): BegunSave | undefined {
    const saving = this.#pending;
    const changes = saving.size;
    // An old handle does not make a collection anew that has ended.
    const isThere = this.log.exists || this.applied.lastEnd > 0;
    if (changes === 0 && isThere && !attach) return undefined;
    this.#pending = new PendingChanges();
    this.#saving = saving;
    const handles = this.applied.takeUnsaved();
    const watermarks = this.applied.watermarksOf(handles);
    const { records, parts, deletes } = saving;
    const written = { records, parts, deletes: deletes.keys(), watermarks };
    const append = this.log.prepareAppend(written, attach);
    return {
      ...append,
      changes,
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
        for (const part of parts) this.bodies.savedPart(part);
      },
      failed: (undo) => {
        append.failed(undo);
        this.#pending.restore(saving, (key) => this.table.get(key));
        this.applied.restore(handles);
        this.#saving = undefined;
      },
    };
  }

  /** The latest saved version of a key, as storage has it. */
  saved(key: string): StoredRecord | undefined {
    return savedVersion(this.table.get(key)) ?? savedVersion(this.#pending.deletes.get(key));
  }

  #mayBeStored(record: StoredRecord): boolean {
    return record.segment > 0 || this.isBeingSaved(record);
  }

  /** Whether a save under way writes the version. */
  isBeingSaved(record: StoredRecord): boolean {
    return this.#saving?.has(record) === true;
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

/** The keys of records, except for hidden ones. */
export function keysOf(records: readonly StoredRecord[], hides: Hides | undefined): string[] {
  const shown = hides ? records.filter((record) => !hides(record)) : records;
  return shown.map(({ key }) => key);
}

/** What is sent of records besides their bodies. */
export function columnsOfRecords(records: readonly StoredRecord[]): ManagedColumns {
  return {
    keys: keysOf(records, undefined),
    flags: Uint8Array.from(records, ({ flags }) => flags),
    stamps: records.some(({ stamps }) => stamps) ? records.map(({ stamps }) => stamps) : undefined,
  };
}

const numbers = new WeakMap<StoredRecord, number>();

/** Begins anywhere: a number of an earlier engine must not stand for a version. */
let last = Math.random();

/**
 * The number of a version of a record, to notice a change in between. One table for all
 * collections: each transaction would need its own, and weak maps are dear.
 *
 * @returns 0 where there is no record.
 */
export function versionNumber(record: StoredRecord | undefined): number {
  if (!record) return 0;
  let number = numbers.get(record);
  if (number === undefined) {
    number = ++last;
    numbers.set(record, number);
  }
  return number;
}
