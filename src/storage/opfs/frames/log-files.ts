import { StorageError } from '../../../errors/errors.ts';
import { byteChecksum } from '../../integrity/checksum.ts';
import type { FileEntry } from './file-index.ts';
import { dataStart, frameEnd } from './frame-format.ts';
import { FrameLog } from './frame-log.ts';
import type { FrameWrite } from './frame-write.ts';
import { readRange, type SyncFile, writeAll } from './sync-file.ts';

/** Dead bytes above this are worth a compaction, unless more are live. */
const WORTH_IT = 4 * 1024 * 1024;

/** Fewer are where hardly any are live: so many, and a multiple of those that are copied. */
const WORTH_LITTLE = 256 * 1024;
const TIMES_LIVE = 16;

/** Bytes copied in one step: milliseconds. */
const STEP = 4 * 1024 * 1024;

/** The two files of a database: one is live, compaction writes the other. */
export class LogFiles {
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
