import { nextTurn } from '../../async/next-turn.ts';
import { StorageError } from '../../errors/errors.ts';
import { DATABASE_ID, databaseIdOf } from '../drivers/database-id.ts';
import type {
  Durability,
  StorageKey,
  StorageOperation,
  StorageRange,
  StoreName,
} from '../drivers/driver.ts';
import { EPOCH_KEY, epochOf, resolveFence } from '../drivers/epoch.ts';
import { SharedDatabase } from '../drivers/shared-database.ts';
import { byteChecksum } from '../integrity/checksum.ts';
import { fileErrorOf, opfsFileDamaged } from './delete-files.ts';
import { ExtentNotes, type FileExtent, missingIn } from './extent-notes.ts';
import type { FileEntry } from './frames/file-index.ts';
import { dataStart, frameEnd } from './frames/frame-format.ts';
import { FrameLog } from './frames/frame-log.ts';
import type { FrameWrite } from './frames/frame-write.ts';
import { readRange, type SyncFile, writeAll } from './frames/sync-file.ts';
import { withBlobs } from './values/exact-parts.ts';

const HOME_KEY: StorageKey = ['home'];

export class FileDatabase extends SharedDatabase {
  readonly notes = new ExtentNotes(this);
  readonly #files: LogFiles;
  readonly #damaged: (error: StorageError) => void;
  readonly #stop: () => void;
  /** Whether a step of tidying is due. */
  #tidies = false;
  #isReleased = false;

  /**
   * @param stop Called when it ends.
   * @throws {StorageError} `format_newer`
   */
  constructor(
    files: readonly [SyncFile, SyncFile],
    damaged: (error: StorageError) => void,
    stop: () => void = () => undefined,
  ) {
    super();
    this.#stop = stop;
    this.#files = new LogFiles(files);
    this.#damaged = damaged;
    if (this.#files.isHeaderLost) damaged(opfsFileDamaged('its first bytes are lost'));
    for (const [from, to] of this.#files.log.damage)
      damaged(opfsFileDamaged(`bytes ${from} to ${to} are lost`));
  }

  /** Whether nothing is stored. */
  get isEmpty(): boolean {
    return this.#log.index.live === 0;
  }

  /** The epoch since which the data is here, 0 where a migration is not complete. */
  get since(): number {
    return epochOf(this.#log.get('leadership', HOME_KEY));
  }

  /** The epoch of the newest leader, or that of the migration. */
  get epoch(): number {
    return Math.max(this.since, epochOf(this.#log.get('leadership', EPOCH_KEY)));
  }

  /** The id of the database; empty before the data is here. */
  get id(): string {
    return databaseIdOf(this.#log.get('leadership', DATABASE_ID));
  }

  /** Offset behind the last whole write. */
  get size(): number {
    return this.#log.end;
  }

  get extent(): FileExtent {
    return { generation: this.#files.generation, length: this.#log.flushed };
  }

  /** Reports what is missing of what was noted. */
  compareWith(noted: unknown): void {
    const missing = missingIn(this.#files.generation, this.#log.end, noted);
    if (missing && !this.#files.isHeaderLost) this.#damaged(opfsFileDamaged(missing));
  }

  /** From now on the data is here. */
  settle(epoch: number, id: string): Promise<void> {
    const write = (key: StorageKey, value: object): StorageOperation => ({
      ...{ type: 'put', store: 'leadership' },
      ...{ key, value },
    });
    return this.write([write(DATABASE_ID, { id }), write(HOME_KEY, { epoch })], 'strict');
  }

  async getMany(store: StoreName, keys: readonly StorageKey[]): Promise<unknown[]> {
    await this.settled();
    return keys.map((key) => this.#read(this.#log.index.get(store, key)));
  }

  async list(store: StoreName, range: StorageRange): Promise<unknown[]> {
    await this.settled();
    return this.#log.index.list(store, range).map((entry) => this.#read(entry));
  }

  async keys(store: StoreName, prefix: StorageKey): Promise<StorageKey[]> {
    await this.settled();
    const range = { prefix, limit: Number.POSITIVE_INFINITY };
    return this.#log.index.list(store, range).map(({ key }) => key);
  }

  async getItem(store: StoreName, key: StorageKey, field: string, index: number): Promise<unknown> {
    await this.settled();
    const entry = this.#log.index.get(store, key);
    return entry && this.#log.readItem(entry, field, index);
  }

  /** All values, one by one: nothing may be written meanwhile. */
  *everything(): Generator<{ store: StoreName; key: StorageKey; value: object; size: number }> {
    for (const entry of this.#log.index.all()) {
      const value = this.#read(entry);
      if (value) yield { ...entry, value, size: entry.frame.dataLength };
    }
  }

  write(operations: Iterable<StorageOperation>, durability: Durability): Promise<void> {
    return this.enqueue(() => this.#apply(operations, durability === 'strict'));
  }

  protected override async enqueue(write: () => Promise<void>): Promise<void> {
    await super.enqueue(write);
    this.#tidySoon();
    if (!this.ended) this.notes.soon();
  }

  /** Makes all that is written survive a power cut. */
  flush(): Promise<void> {
    return this.enqueue(async () => this.#log.flush());
  }

  clear(): Promise<void> {
    return this.enqueue(async () => this.#files.clear());
  }

  override end(error?: StorageError, isGone?: boolean): Promise<void> {
    this.#stop();
    this.notes.stop();
    return super.end(error, isGone);
  }

  protected override errorOf(cause: unknown, doing: string): StorageError {
    return fileErrorOf(cause, doing);
  }

  protected override async release(isGone: boolean): Promise<void> {
    if (this.#isReleased) return;
    this.#files.close(isGone);
    if (!isGone) await this.notes.now();
  }

  get #log(): FrameLog {
    return this.#files.log;
  }

  #read(entry: FileEntry | undefined): object | undefined {
    const value = this.#log.read(entry);
    if (entry && !value)
      this.#damaged(opfsFileDamaged(`the value ${JSON.stringify(entry.key)} of "${entry.store}"`));
    return value;
  }

  async #apply(operations: Iterable<StorageOperation>, isStrict: boolean): Promise<void> {
    const log = this.#log;
    const write = log.begin();
    try {
      for (const operation of operations) {
        await this.#add(write, operation);
        if (!write.isFull) continue;
        write.spill();
        await nextTurn();
      }
      if (write.frames.length === 0) return;
      write.complete();
      log.commit(write, isStrict);
    } catch (error) {
      this.#undo(write, log.end);
      throw error;
    }
  }

  async #add(write: FrameWrite, operation: StorageOperation): Promise<void> {
    const { store, type } = operation;
    if (type === 'deletePrefix') return write.addDelete(store, operation.prefix, type);
    const { key } = operation;
    if (type === 'delete') return write.addDelete(store, key, type);
    const isPut = type === 'put';
    const value = isPut ? operation.value : resolveFence(this.#log.get(store, key), operation);
    if (isPut || value)
      await withBlobs((blobs) => write.addPut(store, key, value as object, blobs));
  }

  #undo(write: FrameWrite, end: number): void {
    try {
      write.undo(end);
    } catch (error) {
      // What stays behind the end could pass for a part of the next write.
      this.ended = fileErrorOf(error, 'undoing a write');
      this.#isReleased = true;
      this.#files.release();
    }
  }

  /** Between the writes, a step at a time. */
  #tidySoon(): void {
    if (this.#tidies || this.ended || !this.#files.isUntidy) return;
    this.#tidies = true;
    nextTurn()
      .then(() => {
        this.#tidies = false;
        return this.enqueue(async () => this.#files.tidy());
      })
      // The disk is full, or the database is closed: the file stays as it is.
      .catch(() => undefined);
  }
}

/** Dead bytes above this are worth a compaction, unless more are live. */
const WORTH_IT = 4 * 1024 * 1024;

/** Fewer are where hardly any are live: so many, and a multiple of those that are copied. */
const WORTH_LITTLE = 256 * 1024;
const TIMES_LIVE = 16;

/** Bytes copied in one step: milliseconds. */
const STEP = 4 * 1024 * 1024;

/** The two files of a database: one is live, compaction writes the other. */
class LogFiles {
  /** Whether the file's header was damaged. */
  readonly isHeaderLost: boolean;
  readonly #files: readonly [SyncFile, SyncFile];
  #generation: number;
  #log: FrameLog;
  #compaction: Compaction | undefined;
  /** No compaction begins while the file is shorter: the last one failed. */
  #retryAt = 0;

  /** @throws {StorageError} `format_newer` */
  constructor(files: readonly [SyncFile, SyncFile]) {
    const [first, second] = files.map(readGeneration) as [number, number];
    const [one, other] = files;
    // Without a valid header: the larger one may still have frames.
    const isSecond = first === second ? other.getSize() > one.getSize() : second > first;
    this.#files = isSecond ? [other, one] : files;
    const [live, spare] = this.#files;
    this.#generation = Math.max(first, second);
    this.isHeaderLost = this.#generation === 0 && live.getSize() > FILE_START;
    if (this.#generation === 0) {
      this.#generation = 1;
      writeGeneration(live, 1);
    }
    if (spare.getSize() > 0) spare.truncate(0);
    this.#log = new FrameLog(live, FILE_START);
  }

  get log(): FrameLog {
    return this.#log;
  }

  /** Higher after each compaction. */
  get generation(): number {
    return this.#generation;
  }

  /** Whether there is something to do between writes. */
  get isUntidy(): boolean {
    return this.#wantsCompaction || this.#log.wantsTable;
  }

  /** Does the next step: of a compaction, or a table for the next opening. */
  tidy(): void {
    if (this.#wantsCompaction) this.#compact();
    else if (this.#log.wantsTable) this.#addTable();
  }

  /** Whether a compaction is under way, or would be worth it. */
  get #wantsCompaction(): boolean {
    const { end, index } = this.#log;
    const dead = end - FILE_START - index.live;
    const { live } = index;
    const least = Math.max(live, Math.min(WORTH_IT, WORTH_LITTLE + TIMES_LIVE * live));
    return this.#compaction !== undefined || (dead > least && end >= this.#retryAt);
  }

  #addTable(): void {
    const log = this.#log;
    try {
      log.mark();
    } catch (error) {
      // The disk is full: what follows the last whole write could pass for a part of the next.
      log.file.truncate(log.end);
      log.postponeTable();
      throw error;
    }
  }

  /** Copies some of the live values to the other file, which becomes the live one with all. */
  #compact(): void {
    const [live, spare] = this.#files;
    this.#compaction ??= new Compaction(live, spare);
    try {
      if (!this.#compaction.step(this.#log)) return;
      // Opening must not take a copied value that is damaged for a torn write, and cut the file
      // there.
      this.#compaction.log.noteFlushed();
      writeGeneration(spare, this.#generation + 1);
    } catch (error) {
      // The disk is full: the live file has everything.
      this.#compaction = undefined;
      this.#retryAt = this.#log.end + WORTH_IT;
      spare.truncate(0);
      throw error;
    }
    this.#generation++;
    this.#log = this.#compaction.log;
    this.#compaction = undefined;
    (this.#files as [SyncFile, SyncFile]).reverse();
    live.truncate(0);
  }

  clear(): void {
    this.#compaction = undefined;
    for (const file of this.#files) file.truncate(0);
    writeGeneration(this.#files[0], this.#generation);
    this.#log = new FrameLog(this.#files[0], FILE_START);
  }

  release(): void {
    for (const file of this.#files) file.close();
  }

  /**
   * Prepares the next opening, and releases the files. @param isGone Whether nothing of them may be
   * kept.
   */
  close(isGone = false): void {
    try {
      if (isGone) for (const file of this.#files) file.truncate(0);
      else this.#mark();
    } finally {
      this.release();
    }
  }

  #mark(): void {
    try {
      this.#log.mark();
    } catch {
      // The disk is full. Without a mark the next opening verifies values.
    }
  }
}

/** A copy of the live values to an empty file, while writes go on. */
class Compaction {
  /** The file that is written. */
  readonly log: FrameLog;
  readonly #from: SyncFile;
  readonly #copied = new Set<FileEntry>();

  constructor(from: SyncFile, to: SyncFile) {
    this.#from = from;
    to.truncate(0);
    this.log = new FrameLog(to, FILE_START);
  }

  /** @returns whether everything is copied. */
  step({ index }: FrameLog): boolean {
    const write = this.log.begin();
    let copied = 0;
    for (const entry of index.all()) {
      if (this.#copied.has(entry)) continue;
      if (copied > STEP) {
        this.#commit(write);
        return false;
      }
      const { frame } = entry;
      write.addCopy(entry, readRange(this.#from, dataStart(frame), frame.dataLength));
      this.#copied.add(entry);
      copied += frameEnd(frame) - frame.at;
      if (write.isFull) write.spill();
    }
    // Those that were replaced after they were copied are copied again, behind.
    for (const { store, key } of this.#copied)
      if (!index.get(store, key)) write.addDelete(store, key, 'delete');
    this.#commit(write);
    return true;
  }

  #commit(write: FrameWrite): void {
    write.complete();
    this.log.commit(write, false);
  }
}

/** Offset of the first frame. */
const FILE_START = 64;

const MAGIC = 0x6e726163;
const FORMAT = 1;
/** Bytes of the header that its checksum covers. */
const COVERED = 16;

/** The generation of a file, 0 if it has no valid header. */
function readGeneration(file: SyncFile): number {
  const bytes = readRange(file, 0, FILE_START);
  if (bytes.length < FILE_START) return 0;
  const view = new DataView(bytes.buffer);
  const isValid =
    view.getUint32(0, true) === MAGIC &&
    view.getUint32(COVERED, true) === byteChecksum(bytes.subarray(0, COVERED));
  if (!isValid) return 0;
  const format = view.getUint32(4, true);
  if (format > FORMAT) {
    throw new StorageError(
      'format_newer',
      `The database file was written in format ${format}; this version of cairndb knows ${FORMAT}. Update this app.`,
    );
  }
  return view.getFloat64(8, true);
}

/** Makes a file the live one: that of the highest generation, without a table. */
function writeGeneration(file: SyncFile, generation: number): void {
  const bytes = new Uint8Array(FILE_START);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, MAGIC, true);
  view.setUint32(4, FORMAT, true);
  view.setFloat64(8, generation, true);
  view.setUint32(COVERED, byteChecksum(bytes.subarray(0, COVERED)), true);
  writeAll(file, bytes, 0);
  file.flush();
}
