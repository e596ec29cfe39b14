import { StorageError } from '../../../errors/storage-error.ts';
import { byteChecksum } from '../../integrity/byte-checksum.ts';
import { readRange, type SyncFile, writeAll } from './sync-file.ts';

/** Offset of the first frame. */
export const FILE_START = 64;

const MAGIC = 0x6e726163;
const FORMAT = 1;
/** Bytes of the header that its checksum covers. */
const COVERED = 16;

/** The generation of a file, 0 if it has no valid header: it is empty, or its compaction did not end. */
export function readGeneration(file: SyncFile): number {
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

/** Makes a file the live one: that of the highest generation. It has no table then (`frame-table.ts`). */
export function writeGeneration(file: SyncFile, generation: number): void {
  const bytes = new Uint8Array(FILE_START);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, MAGIC, true);
  view.setUint32(4, FORMAT, true);
  view.setFloat64(8, generation, true);
  view.setUint32(COVERED, byteChecksum(bytes.subarray(0, COVERED)), true);
  writeAll(file, bytes, 0);
  file.flush();
}
