import type { StorageKey, StoreName } from '../../drivers/driver.ts';
import { byteChecksum } from '../../integrity/checksum.ts';
import type { ByteBuffer } from '../values/byte-buffer.ts';
import type { BlobContents } from '../values/exact-parts.ts';
import { addValue } from '../values/value-bytes.ts';
import type { FileEntry } from './file-index.ts';
import {
  type FrameHead,
  type FrameHeader,
  HEADER_SIZE,
  padded,
  writeHeader,
} from './frame-format.ts';
import { type SyncFile, writeAll } from './sync-file.ts';

/** Bytes gathered before they are written. */
const SPILL = 1024 * 1024;

/** Appends the frames of one write to a file. They are no write until the last is there. */
export class FrameWrite {
  /** The frames so far, marks left out. */
  readonly frames: { readonly head: FrameHead; readonly frame: FrameHeader }[] = [];
  readonly #file: SyncFile;
  readonly #buffer: ByteBuffer;
  readonly #flushed: number;
  /** Offset in the file of what the buffer has. */
  #bufferAt: number;
  /** The newest frame, whose header is not written yet: it may be the last. */
  #open: { offset: number; header: FrameHeader } | undefined;

  /**
   * @param buffer Of this write alone until it ends.
   * @param at Offset of its first frame.
   */
  constructor(file: SyncFile, buffer: ByteBuffer, at: number, flushed: number) {
    this.#file = file;
    this.#buffer = buffer;
    this.#bufferAt = at;
    this.#flushed = flushed;
    buffer.clear();
  }

  /** Offset behind the frames so far. */
  get end(): number {
    return this.#bufferAt + this.#buffer.length;
  }

  /**
   * Adds a value. Nothing is added where it throws.
   *
   * @throws {UnreadBlob}
   */
  addPut(store: StoreName, key: StorageKey, value: object, blobs: BlobContents): void {
    const before = this.#buffer.length;
    this.#close(false);
    try {
      this.#add([store, key], () => addValue(this.#buffer, value, blobs));
    } catch (error) {
      this.#buffer.length = before;
      throw error;
    }
  }

  /** Adds a step without a value. */
  addDelete(store: StoreName, key: StorageKey, kind: 'delete' | 'deletePrefix'): void {
    this.#close(false);
    this.#add([store, key, kind], () => undefined);
  }

  /** Adds the bytes of a stored value, with its checksum: damage stays known. */
  addCopy({ store, key, frame }: FileEntry, bytes: Uint8Array): void {
    this.#close(false);
    this.#add([store, key], () => this.#buffer.add(bytes), frame.dataChecksum);
  }

  /** @param table Of all frames before: the next opening need not read their heads. */
  addMark(table = ''): void {
    this.#close(false);
    this.#add(undefined, () => void this.#buffer.addText(table));
  }

  /** Whether enough is gathered to write it. */
  get isFull(): boolean {
    return this.#buffer.length > SPILL;
  }

  /** Writes what is gathered, but for the newest frame. */
  spill(): void {
    const keep = this.#open?.offset ?? this.#buffer.length;
    if (keep === 0) return;
    writeAll(this.#file, this.#buffer.written.subarray(0, keep), this.#bufferAt);
    this.#buffer.dropFirst(keep);
    this.#bufferAt += keep;
    if (this.#open) this.#open.offset -= keep;
  }

  /** Writes the rest: the write is whole. */
  complete(): void {
    this.#close(true);
    writeAll(this.#file, this.#buffer.written, this.#bufferAt);
    this.#bufferAt += this.#buffer.length;
    this.#buffer.clear();
  }

  /** Takes the frames out of the file. */
  undo(end: number): void {
    this.#buffer.clear();
    if (this.#file.getSize() > end) this.#file.truncate(end);
  }

  #add(head: FrameHead | undefined, addData: () => void, checksum?: number): void {
    const offset = this.#buffer.skip(HEADER_SIZE);
    const headLength = head ? this.#buffer.addText(JSON.stringify(head)) : 0;
    const headChecksum = byteChecksum(
      this.#buffer.written.subarray(offset + HEADER_SIZE, offset + HEADER_SIZE + headLength),
    );
    this.#buffer.skip(padded(headLength) - headLength);
    const data = this.#buffer.length;
    addData();
    const dataLength = this.#buffer.length - data;
    const dataChecksum = checksum ?? byteChecksum(this.#buffer.written.subarray(data));
    this.#buffer.align();
    const header: FrameHeader = {
      at: this.#bufferAt + offset,
      ...{ headLength, dataLength, headChecksum, dataChecksum },
      isLast: false,
      flushed: this.#flushed,
    };
    this.#open = { offset, header };
    if (head) this.frames.push({ head, frame: header });
  }

  #close(isLast: boolean): void {
    if (!this.#open) return;
    const { offset, header } = this.#open;
    writeHeader(this.#buffer.view, offset, { ...header, isLast });
    this.#open = undefined;
  }
}
