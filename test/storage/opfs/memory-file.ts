import type { SyncFile } from '../../../src/storage/opfs/frames/sync-file.ts';

/** A file in memory, as a sync access handle has it, with the disk under it. */
export class MemoryFile implements SyncFile {
  bytes = new Uint8Array(0);
  /** What survives a power cut at least. */
  flushed = new Uint8Array(0);
  /** Bytes that the disk takes. */
  room = Number.POSITIVE_INFINITY;
  isOpen = true;

  constructor(bytes = new Uint8Array(0)) {
    this.bytes = bytes.slice();
    this.flushed = bytes.slice();
  }

  read(into: Uint8Array, { at }: { at: number }): number {
    this.#check();
    const found = this.bytes.subarray(at, at + into.length);
    into.set(found);
    return found.length;
  }

  write(bytes: Uint8Array, { at }: { at: number }): number {
    this.#check();
    const end = Math.min(at + bytes.length, this.room);
    if (end > this.bytes.length) this.truncate(end);
    const written = bytes.subarray(0, Math.max(0, end - at));
    this.bytes.set(written, at);
    return written.length;
  }

  truncate(size: number): void {
    this.#check();
    const bytes = new Uint8Array(size);
    bytes.set(this.bytes.subarray(0, size));
    this.bytes = bytes;
  }

  flush(): void {
    this.#check();
    this.flushed = this.bytes.slice();
  }

  getSize(): number {
    this.#check();
    return this.bytes.length;
  }

  close(): void {
    this.isOpen = false;
  }

  #check(): void {
    if (!this.isOpen) throw new DOMException('The file is closed.', 'InvalidStateError');
  }
}
