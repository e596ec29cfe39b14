import type { StorageKey, StoreName } from '../../drivers/driver.ts';
import { byteChecksum } from '../../integrity/checksum.ts';

/**
 * A frame is one step of a write: a header, a head (JSON: store, key, kind), the bytes of a value.
 * Head and value are padded to eight bytes.
 *
 * | Offset | Field |
 * |---|---|
 * | 0 | magic |
 * | 4 | checksum of the rest of the header |
 * | 8 | length of the head, in bytes |
 * | 12 | 1 for the last frame of a write, else 0 |
 * | 16 | length of the value |
 * | 24 | {@link FrameHeader.flushed} |
 * | 32 | checksum of the head |
 * | 36 | checksum of the value |
 * | 40 | the frame's own offset in the file |
 */
export const HEADER_SIZE = 48;

const MAGIC = 0x4e524943;

export interface FrameHeader {
  /** Offset in the file. */
  readonly at: number;
  readonly headLength: number;
  readonly dataLength: number;
  /** Whether the write ends here: frames without a last one are no write. */
  readonly isLast: boolean;
  /** Up to here the file was flushed when the frame was written: damage below is no torn write. */
  readonly flushed: number;
  readonly headChecksum: number;
  readonly dataChecksum: number;
}

/**
 * The step of a frame; `undefined` for a mark, which carries {@link FrameHeader.flushed} and
 * perhaps a table of the frames before it (`frame-table.ts`).
 */
export type FrameHead =
  | readonly [store: StoreName, key: StorageKey]
  | readonly [store: StoreName, key: StorageKey, kind: 'delete' | 'deletePrefix'];

export function padded(length: number): number {
  return (length + 7) & ~7;
}

/** Offset of the value in the file. */
export function dataStart({ at, headLength }: FrameHeader): number {
  return at + HEADER_SIZE + padded(headLength);
}

/** Offset behind the frame. */
export function frameEnd(header: FrameHeader): number {
  // Not `padded`: lengths over 2 GB.
  return dataStart(header) + Math.ceil(header.dataLength / 8) * 8;
}

export function writeHeader(view: DataView, offset: number, header: FrameHeader): void {
  view.setUint32(offset, MAGIC, true);
  view.setUint32(offset + 8, header.headLength, true);
  view.setUint32(offset + 12, header.isLast ? 1 : 0, true);
  view.setFloat64(offset + 16, header.dataLength, true);
  view.setFloat64(offset + 24, header.flushed, true);
  view.setUint32(offset + 32, header.headChecksum, true);
  view.setUint32(offset + 36, header.dataChecksum, true);
  view.setFloat64(offset + 40, header.at, true);
  view.setUint32(offset + 4, headerChecksum(view, offset), true);
}

/**
 * The header at an offset of a buffer, `undefined` if there is no valid one. @param at Its offset
 * in the file.
 */
export function readHeader(view: DataView, offset: number, at: number): FrameHeader | undefined {
  if (view.byteLength < offset + HEADER_SIZE || view.getUint32(offset, true) !== MAGIC)
    return undefined;
  if (view.getUint32(offset + 4, true) !== headerChecksum(view, offset)) return undefined;
  if (view.getFloat64(offset + 40, true) !== at) return undefined;
  return {
    at,
    headLength: view.getUint32(offset + 8, true),
    isLast: view.getUint32(offset + 12, true) === 1,
    dataLength: view.getFloat64(offset + 16, true),
    flushed: view.getFloat64(offset + 24, true),
    headChecksum: view.getUint32(offset + 32, true),
    dataChecksum: view.getUint32(offset + 36, true),
  };
}

function headerChecksum({ buffer, byteOffset }: DataView, offset: number): number {
  // A copy: a header may lie at any offset.
  return byteChecksum(new Uint8Array(buffer, byteOffset + offset + 8, HEADER_SIZE - 8).slice());
}
