import { byteChecksum } from '../../integrity/checksum.ts';
import type { FileIndex } from './file-index.ts';
import {
  dataStart,
  type FrameHead,
  type FrameHeader,
  frameEnd,
  HEADER_SIZE,
  padded,
  readHeader,
} from './frame-format.ts';
import { readRange, type SyncFile } from './sync-file.ts';

/** Bytes read at a time: many small frames, or the head of a large one. */
const WINDOW = 8 * 1024;
/** Bytes read at a time while looking for the frame behind damage. */
const SEARCH_WINDOW = 1024 * 1024;

const decoder = new TextDecoder();

export interface ScanResult {
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
export function scanFrames(
  file: SyncFile,
  start: number,
  index: FileIndex,
  flushed = 0,
): ScanResult {
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
