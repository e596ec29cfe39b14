import type { StorageKey, StoreName } from '../../drivers/driver.ts';
import { byteChecksum } from '../../integrity/byte-checksum.ts';
import type { FileIndex } from './file-index.ts';
import { dataStart, type FrameHeader, frameEnd, HEADER_SIZE, readHeader } from './frame-format.ts';
import { readRange, type SyncFile, writeAll } from './sync-file.ts';

/**
 * Where the header of a file says where its newest table is: the offset of its mark, and a checksum of that. In the
 * first sector, which is written as a whole.
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
export function tableOf(index: FileIndex): string {
  const rows: Row[] = [];
  for (const { store, key, frame } of index.all()) {
    const { at, headLength, dataLength, headChecksum, dataChecksum } = frame;
    rows.push([store, key, at, headLength, dataLength, headChecksum, dataChecksum]);
  }
  return JSON.stringify(rows);
}

/** Notes the offset of the mark that has the newest table. It must be written before. */
export function pointToTable(file: SyncFile, at: number): void {
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
export function readTable(file: SyncFile, index: FileIndex): FrameHeader | undefined {
  const mark = readMark(file);
  if (!mark) return undefined;
  const bytes = readRange(file, dataStart(mark), mark.dataLength);
  if (bytes.length < mark.dataLength || byteChecksum(bytes) !== mark.dataChecksum) return undefined;
  const rows = JSON.parse(new TextDecoder().decode(bytes)) as Row[];
  // By index: this code runs before V8 optimizes it, and to take a row apart by name needs three times as long.
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
