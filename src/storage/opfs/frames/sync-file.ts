/** The part of FileSystemSyncAccessHandle in use. */
export interface SyncFile {
  read(into: Uint8Array<ArrayBuffer>, options: { at: number }): number;
  write(bytes: Uint8Array<ArrayBuffer>, options: { at: number }): number;
  truncate(size: number): void;
  flush(): void;
  getSize(): number;
  close(): void;
}

/** Reads a range of a file, or as much of it as there is. */
export function readRange(file: SyncFile, at: number, length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  let done = 0;
  while (done < length) {
    const count = file.read(bytes.subarray(done), { at: at + done });
    if (count === 0) return bytes.subarray(0, done);
    done += count;
  }
  return bytes;
}

/** Writes all bytes at an offset. @throws where the disk is full. */
export function writeAll(file: SyncFile, bytes: Uint8Array<ArrayBuffer>, at: number): void {
  for (let done = 0; done < bytes.length; ) {
    const count = file.write(bytes.subarray(done), { at: at + done });
    if (count === 0) throw new DOMException('The file takes no more bytes.', 'QuotaExceededError');
    done += count;
  }
}
