import type { StorageKey, StoreName } from '../../drivers/driver.ts';
import { byteChecksum } from '../../integrity/checksum.ts';
import { ByteBuffer } from '../values/byte-buffer.ts';
import { itemRange, readItem } from '../values/text-lists.ts';
import { type ListRange, readLists, readValue } from '../values/value-bytes.ts';
import { type FileEntry, FileIndex } from './file-index.ts';
import {
  dataStart,
  type FrameHead,
  type FrameHeader,
  frameEnd,
  HEADER_SIZE,
  padded,
  readHeader,
} from './frame-format.ts';
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

/** Bytes read at a time: many small frames, or the head of a large one. */
const WINDOW = 8 * 1024;
/** Bytes read at a time while looking for the frame behind damage. */
const SEARCH_WINDOW = 1024 * 1024;

const decoder = new TextDecoder();

interface ScanResult {
  /** Offset behind the last whole write: what follows is torn. */
  readonly end: number;
  /** Up to here the file is known to be flushed. */
  readonly flushed: number;
  /** Damaged ranges that the kill of a browser does not explain: their frames are lost. */
  readonly damage: readonly (readonly [from: number, to: number])[];
}

/**
 * Reads the heads of all frames of a file into an index. Values are read and verified only where no
 * later flush covers them. A write that is not whole ends the file; damage below a flushed offset
 * is skipped. Damage is reported.
 *
 * @param start Offset of the first frame to read.
 * @param flushed Up to there the file is known to be flushed.
 */
function scanFrames(file: SyncFile, start: number, index: FileIndex, flushed = 0): ScanResult {
  return new FrameScan(file, start, flushed).run(index);
}

class FrameScan {
  readonly #file: SyncFile;
  readonly #size: number;
  #window = new Uint8Array(0);
  #windowAt = 0;
  #at: number;
  #end: number;
  #flushed: number;
  readonly #damage: (readonly [number, number])[] = [];
  /** The frames of the write that is being read. */
  #write: { head: FrameHead; frame: FrameHeader }[] = [];

  constructor(file: SyncFile, start: number, flushed: number) {
    this.#file = file;
    this.#flushed = flushed;
    this.#size = file.getSize();
    this.#at = start;
    this.#end = start;
  }

  run(index: FileIndex): ScanResult {
    /** Frames whose values may be torn: nothing says yet that they were flushed. */
    let unverified: FrameHeader[] = [];
    const applied: { head: FrameHead; frame: FrameHeader }[][] = [];
    while (this.#at < this.#size) {
      const frame = this.#headerAt(this.#at);
      const head = frame && this.#headOf(frame);
      if (!frame || head === null) {
        if (!this.#skipDamage()) break;
        continue;
      }
      if (frame.flushed > this.#flushed) {
        this.#flushed = frame.flushed;
        unverified = unverified.filter((one) => frameEnd(one) > frame.flushed);
      }
      if (head) this.#write.push({ head, frame });
      unverified.push(frame);
      this.#at = frameEnd(frame);
      if (!frame.isLast) continue;
      applied.push(this.#write);
      this.#write = [];
      this.#end = this.#at;
    }
    const torn = unverified.find((frame) => !this.#isWhole(frame));
    if (torn) {
      // The bytes are all there: it was no kill of the browser.
      this.#damage.push([torn.at, this.#end]);
      this.#end = cutBefore(torn, applied, this.#end);
    }
    for (const write of applied) for (const { head, frame } of write) index.apply(head, frame);
    return { end: this.#end, flushed: this.#flushed, damage: this.#damage };
  }

  #headerAt(at: number): FrameHeader | undefined {
    const view = this.#view(at, HEADER_SIZE);
    const header = view && readHeader(view, 0, at);
    return header && frameEnd(header) <= this.#size ? header : undefined;
  }

  /** The head of a frame: `undefined` for a mark, `null` for a damaged one. */
  #headOf({ at, headLength, headChecksum }: FrameHeader): FrameHead | undefined | null {
    if (headLength === 0) return undefined;
    const view = this.#view(at + HEADER_SIZE, padded(headLength));
    if (!view) return null;
    const bytes = new Uint8Array(view.buffer, view.byteOffset, headLength).slice();
    if (byteChecksum(bytes) !== headChecksum) return null;
    return JSON.parse(decoder.decode(bytes)) as FrameHead;
  }

  /** Goes on behind damage where it is no torn write. @returns whether there is such a place. */
  #skipDamage(): boolean {
    const from = this.#at;
    const next = this.#search(from + 8);
    if (!next) return false;
    const isFlushed = this.#flushed > from || this.#isNotedBehind(next, from);
    // What was never flushed may be torn in any order: the file ends here, and writes behind are
    // lost.
    this.#damage.push([from, isFlushed ? next.at : this.#size]);
    this.#at = next.at;
    return isFlushed;
  }

  /** Whether a frame from here on notes that the file was flushed behind an offset. */
  #isNotedBehind(first: FrameHeader, offset: number): boolean {
    for (let frame: FrameHeader | undefined = first; frame; ) {
      if (frame.flushed > offset) return true;
      const end: number = frameEnd(frame);
      frame = this.#headerAt(end) ?? this.#search(end);
    }
    return false;
  }

  /** The next valid frame. Frames begin at multiples of eight. */
  #search(from: number): FrameHeader | undefined {
    for (let at = from; at < this.#size; at += SEARCH_WINDOW) {
      const bytes = readRange(this.#file, at, SEARCH_WINDOW + HEADER_SIZE);
      const view = new DataView(bytes.buffer, 0, bytes.length);
      for (let offset = 0; offset < SEARCH_WINDOW; offset += 8) {
        const header = readHeader(view, offset, at + offset);
        if (header && frameEnd(header) <= this.#size && this.#headOf(header) !== null)
          return header;
      }
    }
    return undefined;
  }

  #isWhole(frame: FrameHeader): boolean {
    const bytes = readRange(this.#file, dataStart(frame), frame.dataLength);
    return bytes.length === frame.dataLength && byteChecksum(bytes) === frame.dataChecksum;
  }

  #view(at: number, length: number): DataView | undefined {
    if (at + length > this.#size) return undefined;
    const offset = at - this.#windowAt;
    if (offset >= 0 && offset + length <= this.#window.length)
      return new DataView(this.#window.buffer, offset, length);
    this.#window = readRange(this.#file, at, Math.max(WINDOW, length));
    this.#windowAt = at;
    return this.#window.length < length ? undefined : new DataView(this.#window.buffer, 0, length);
  }
}

/**
 * Drops the write that has the torn frame, and all later ones. @returns the end of the writes
 * before it.
 */
function cutBefore(
  torn: FrameHeader,
  writes: { head: FrameHead; frame: FrameHeader }[][],
  end: number,
): number {
  const from = writes.findIndex((write) => write.some(({ frame }) => frame.at >= torn.at));
  if (from < 0) return Math.min(end, torn.at);
  const cut = writes.splice(from);
  return cut[0]?.[0]?.frame.at ?? end;
}
