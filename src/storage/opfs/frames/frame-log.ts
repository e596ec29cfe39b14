import type { StorageKey, StoreName } from '../../drivers/driver.ts';
import { byteChecksum } from '../../integrity/checksum.ts';
import { ByteBuffer } from '../values/byte-buffer.ts';
import { itemRange, readItem } from '../values/text-lists.ts';
import { type ListRange, readLists, readValue } from '../values/value-bytes.ts';
import { type FileEntry, FileIndex } from './file-index.ts';
import { dataStart, type FrameHeader, frameEnd, HEADER_SIZE, readHeader } from './frame-format.ts';
import { scanFrames } from './frame-scan.ts';
import { FrameWrite } from './frame-write.ts';
import { readRange, type SyncFile, writeAll } from './sync-file.ts';

/** Bytes without a flush at the most: opening verifies them. */
const FLUSH_AFTER = 4 * 1024 * 1024;

/**
 * Bytes behind the newest table at the least before another: of shorter files, opening reads the
 * heads.
 */
const TABLE_AFTER = 4 * 1024 * 1024;
/**
 * Bytes of frames for each byte of the table before: tables are one of 64 bytes written at the
 * most.
 */
const TABLE_SHARE = 64;

/** Bytes from the end of a value that mostly say where its items are. */
const DIRECTORY_GUESS = 2048;

/**
 * The frames of one file. Everything is synchronous. docs/decisions/032-opfs.md has the format's
 * reasons.
 */
export class FrameLog {
  readonly index = new FileIndex();
  /** Ranges that were found damaged when the file was opened. */
  readonly damage: readonly (readonly [from: number, to: number])[];
  /** Offset behind the last whole write. */
  end: number;
  readonly #file: SyncFile;
  #flushed: number;
  /** Offset behind the mark at the end of the file. */
  #noted = 0;
  /** Offset behind the newest table, or of the first frame. */
  #tabled: number;
  /** Bytes behind it until another is due. */
  #tableAfter = TABLE_AFTER;
  readonly #buffer = new ByteBuffer();
  /** By entry; those of entries that are gone go with them. */
  readonly #lists = new WeakMap<FileEntry, ReadonlyMap<string, ListRange>>();

  /**
   * Opens a file: cuts a torn tail.
   *
   * @param start Offset of the first frame.
   */
  constructor(file: SyncFile, start: number) {
    this.#file = file;
    const table = readTable(file, this.index);
    this.#tabled = start;
    if (table) this.#noteTable(table.at, frameEnd(table));
    const { end, flushed, damage } = scanFrames(file, this.#tabled, this.index, table?.at);
    this.damage = damage;
    this.end = end;
    this.#flushed = Math.min(flushed, end);
    if (file.getSize() > end) file.truncate(end);
  }

  /** Up to here a power cut takes nothing. */
  get flushed(): number {
    return this.#flushed;
  }

  get file(): SyncFile {
    return this.#file;
  }

  /** Begins a write. One at a time. */
  begin(): FrameWrite {
    return new FrameWrite(this.#file, this.#buffer, this.end, this.#flushed);
  }

  /** Applies a write that is in the file. @param isStrict Whether it must survive a power cut. */
  commit(write: FrameWrite, isStrict: boolean): void {
    if (isStrict || write.end - this.#flushed > FLUSH_AFTER) {
      this.#file.flush();
      this.#flushed = write.end;
    }
    for (const { head, frame } of write.frames) this.index.apply(head, frame);
    this.end = write.end;
  }

  /** Makes everything survive a power cut. */
  flush(): void {
    this.#file.flush();
    this.#flushed = this.end;
  }

  /** Whether so much has been written since the newest table that another is due. */
  get wantsTable(): boolean {
    return this.end - this.#tabled > this.#tableAfter;
  }

  /** Flushes, and notes it in the file: the next opening need not verify values. */
  noteFlushed(table?: string): void {
    this.flush();
    const write = this.begin();
    write.addMark(table);
    write.complete();
    this.end = write.end;
  }

  /** The same, unless it is noted already. A long file gets a table for the next opening. */
  mark(): void {
    if (this.#noted === this.end) return;
    const at = this.end;
    const hasTable = at - this.#tabled > TABLE_AFTER;
    this.noteFlushed(hasTable ? tableOf(this.index) : undefined);
    this.#noted = this.end;
    if (!hasTable) return;
    pointToTable(this.#file, at);
    // Damage to what was flushed takes no writes behind it along.
    this.flush();
    this.#noteTable(at, this.end);
  }

  /** Waits until as much is written again: the disk took no table. */
  postponeTable(): void {
    this.#tabled = this.end;
  }

  #noteTable(from: number, to: number): void {
    this.#tabled = to;
    this.#tableAfter = Math.max(TABLE_AFTER, (to - from) * TABLE_SHARE);
  }

  /** A stored value; `undefined` for none, and for a damaged one. */
  read(entry: FileEntry | undefined): object | undefined {
    if (!entry) return undefined;
    const { frame } = entry;
    const bytes = readRange(this.#file, dataStart(frame), frame.dataLength);
    if (bytes.length < frame.dataLength || byteChecksum(bytes) !== frame.dataChecksum)
      return undefined;
    return readValue(bytes);
  }

  get(store: StoreName, key: StorageKey): object | undefined {
    return this.read(this.index.get(store, key));
  }

  /**
   * One item of a list of a value, without the rest; `undefined` where there is none. It is not
   * checked against the checksum of the frame: the engine has one of each encoded document.
   */
  readItem(entry: FileEntry, field: string, index: number): unknown {
    try {
      return this.#readItem(entry, field, index);
    } catch {
      // Damaged bytes are no item.
      return undefined;
    }
  }

  #readItem(entry: FileEntry, field: string, index: number): unknown {
    const list = this.#listsOf(entry).get(field);
    if (!list || index >= list.ends.length) return undefined;
    const { from, to, isText } = itemRange(list.ends, index);
    const at = dataStart(entry.frame) + list.at;
    const bytes = readRange(this.#file, at + from, to - from);
    return bytes.length === to - from ? readItem(bytes, isText) : undefined;
  }

  #listsOf(entry: FileEntry): ReadonlyMap<string, ListRange> {
    let lists = this.#lists.get(entry);
    if (!lists) {
      const { dataLength } = entry.frame;
      const start = dataStart(entry.frame);
      const guess = Math.min(DIRECTORY_GUESS, dataLength);
      lists =
        readLists(readRange(this.#file, start + dataLength - guess, guess)) ??
        readLists(readRange(this.#file, start, dataLength)) ??
        new Map();
      this.#lists.set(entry, lists);
    }
    return lists;
  }
}

/**
 * Where the header of a file says where its newest table is: the offset of its mark, and a checksum
 * of that. In the first sector, which is written as a whole.
 */
export const POINTER_AT = 40;
const POINTER_SIZE = 12;

/** A stored value: where it is, and what its frame says of it. */
type Row = readonly [
  store: StoreName,
  key: StorageKey,
  at: number,
  headLength: number,
  dataLength: number,
  headChecksum: number,
  dataChecksum: number,
];

/** The table of an index: what the heads of all frames so far say. */
function tableOf(index: FileIndex): string {
  const rows: Row[] = [];
  for (const { store, key, frame } of index.all()) {
    const { at, headLength, dataLength, headChecksum, dataChecksum } = frame;
    rows.push([store, key, at, headLength, dataLength, headChecksum, dataChecksum]);
  }
  return JSON.stringify(rows);
}

/** Notes the offset of the mark that has the newest table. It must be written before. */
function pointToTable(file: SyncFile, at: number): void {
  const bytes = new Uint8Array(POINTER_SIZE);
  const view = new DataView(bytes.buffer);
  view.setFloat64(0, at, true);
  view.setUint32(8, byteChecksum(bytes.subarray(0, 8)), true);
  writeAll(file, bytes, POINTER_AT);
}

/**
 * Reads the newest table into an index.
 *
 * @returns its mark; `undefined` where there is none, or it is not whole: the index is as before.
 */
function readTable(file: SyncFile, index: FileIndex): FrameHeader | undefined {
  const mark = readMark(file);
  if (!mark) return undefined;
  const bytes = readRange(file, dataStart(mark), mark.dataLength);
  if (bytes.length < mark.dataLength || byteChecksum(bytes) !== mark.dataChecksum) return undefined;
  const rows = JSON.parse(new TextDecoder().decode(bytes)) as Row[];
  // By index: this code runs before V8 optimizes it, and to take a row apart by name needs three
  // times as long.
  for (const row of rows)
    index.apply([row[0], row[1]], {
      at: row[2],
      headLength: row[3],
      dataLength: row[4],
      headChecksum: row[5],
      dataChecksum: row[6],
      isLast: true,
      flushed: 0,
    });
  return mark;
}

function readMark(file: SyncFile): FrameHeader | undefined {
  const pointer = readRange(file, POINTER_AT, POINTER_SIZE);
  if (pointer.length < POINTER_SIZE) return undefined;
  const view = new DataView(pointer.buffer);
  if (view.getUint32(8, true) !== byteChecksum(pointer.subarray(0, 8))) return undefined;
  const at = view.getFloat64(0, true);
  const bytes = readRange(file, at, HEADER_SIZE);
  const mark = readHeader(new DataView(bytes.buffer, 0, bytes.length), 0, at);
  const isTable = mark?.headLength === 0 && mark.dataLength > 0 && frameEnd(mark) <= file.getSize();
  return isTable ? mark : undefined;
}
