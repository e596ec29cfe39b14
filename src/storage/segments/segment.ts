import type { Body } from '../../codec/body.ts';
import { type BlobBytes, bodySize } from '../../codec/size.ts';
import { type Stamps, StoredRecord } from './stored-record.ts';
import type { Watermark } from './watermarks.ts';

/**
 * Size at which a segment is full, in characters of its bodies and keys. Measured in Chromium: values
 * just above 64 KB are compressed and write two to four times faster than values below, while larger
 * ones make scattered reads slower (docs/decisions/002-segment-format.md).
 */
export const SEGMENT_SIZE = 96 * 1024;

/** A segment below this is small: it is kept in one value, and is merged with others before long. */
export const SMALL_SEGMENT = 64 * 1024;

/**
 * What opening reads of a segment: everything but the bodies, a sixth of its bytes. Columns and not rows,
 * because structured clone takes half the time for them.
 */
export interface Segment {
  /** Place in the collection's log: what a higher number says wins. */
  readonly number: number;
  /** The newest segment at the time of writing, 0 for none: a gap in this chain is a lost segment. */
  readonly after: number;
  /** It counts for nothing unless the manifest names it: an import writes what may yet be given up. */
  readonly staged?: true | undefined;
  /** How far the changes of clients are saved with it and the segments written along with it. */
  readonly watermarks?: readonly Watermark[] | undefined;
  /** Keys that were deleted. They count before this segment's own records. */
  readonly deletes: readonly string[];
  readonly keys: readonly string[];
  readonly ranks: Float64Array;
  readonly flags: Uint8Array;
  /** Four for each record, as in {@link Stamps}; left out where no record has any. */
  readonly stamps: Float64Array | undefined;
  /**
   * For each index, by its column, what it keeps of each record; left out where the
   * collection had none. Opening need not look inside documents to find them.
   */
  readonly indexed: Readonly<Record<string, readonly unknown[]>> | undefined;
  /** What each record adds to `size`. */
  readonly sizes: Uint32Array;
  /** Rough size in bytes, without Blobs. */
  readonly size: number;
  /** Bytes of Blobs, left out where there are none. */
  readonly blobBytes?: number | undefined;
  /** The bodies, where the segment is small. Else they are a value of their own. */
  readonly bodies: readonly Body[] | undefined;
}

/**
 * What keeps a segment from being read, as a half sentence; `undefined` where nothing does.
 *
 * @param value What storage has under its number.
 */
export function segmentProblem(value: unknown, number: number): string | undefined {
  if (value === undefined) return 'is missing from storage';
  const segment = value as Partial<Segment>;
  if (segment.number !== number) return `says it is number ${segment.number}`;
  const { keys, deletes, ranks, flags, sizes, stamps, bodies } = segment;
  if (!Array.isArray(keys) || !Array.isArray(deletes)) return 'is none';
  const lengths = [ranks?.length, flags?.length, sizes?.length];
  if (stamps) lengths.push(stamps.length / 4);
  if (bodies) lengths.push(bodies.length);
  return lengths.some((length) => length !== keys.length)
    ? 'has columns of different lengths'
    : undefined;
}

/**
 * Names of the columns of indexes, by the offset of their keys in {@link StoredRecord.indexKeys}; `undefined` where an
 * offset is not in use.
 */
export type IndexColumns = readonly (string | undefined)[];

/** The bodies of a segment, in the order of its records. */
export interface SegmentBodies {
  readonly number: number;
  readonly size: number;
  readonly bodies: readonly Body[];
}

/** What a segment is made of. */
export interface SegmentContent {
  readonly deletes: readonly string[];
  readonly records: readonly StoredRecord[];
  /** The bodies of the records. */
  readonly bodies: readonly Body[];
  readonly size: number;
  readonly blobBytes: number;
}

/** Rough bytes that a segment takes in storage. */
export function bytesOf({ size, blobBytes = 0 }: Pick<Segment, 'size' | 'blobBytes'>): number {
  return size + blobBytes;
}

/** Cuts changes into contents of about {@link SEGMENT_SIZE}, deletes first. */
export function* cutSegments(
  deletes: Iterable<string>,
  records: Iterable<StoredRecord>,
  bodyOf: (record: StoredRecord) => Body,
): Generator<SegmentContent> {
  let content = emptyContent();
  for (const key of deletes) {
    content.deletes.push(key);
    content.size += key.length;
    if (content.size >= SEGMENT_SIZE) {
      yield content;
      content = emptyContent();
    }
  }
  for (const record of records) {
    const body = bodyOf(record);
    content.records.push(record);
    content.bodies.push(body);
    record.size = recordSize(record, body, content);
    content.size += record.size;
    if (content.size >= SEGMENT_SIZE) {
      yield content;
      content = emptyContent();
    }
  }
  if (content.records.length > 0 || content.deletes.length > 0) yield content;
}

function emptyContent() {
  return {
    deletes: [] as string[],
    records: [] as StoredRecord[],
    bodies: [] as Body[],
    size: 0,
    blobBytes: 0,
  };
}

/** What a record adds to the size of a segment. */
function recordSize(record: StoredRecord, body: Body, blobs: BlobBytes): number {
  return record.key.length + 9 + (record.stamps ? 32 : 0) + bodySize(body, blobs);
}

/** A segment with its bodies, which go into it only if it is small. */
export function buildSegment(
  content: SegmentContent,
  place: Pick<Segment, 'number' | 'after' | 'staged' | 'watermarks'>,
  columns: IndexColumns,
) {
  const { records, deletes, size, blobBytes } = content;
  const { number } = place;
  const bodies: SegmentBodies = { number, size, bodies: content.bodies };
  const ranks = new Float64Array(records.length);
  const flags = new Uint8Array(records.length);
  const sizes = new Uint32Array(records.length);
  let stamps: Float64Array | undefined;
  const keys = records.map((record, index) => {
    ranks[index] = record.rank;
    flags[index] = record.flags;
    sizes[index] = record.size;
    if (record.stamps) {
      stamps ??= new Float64Array(records.length * 4);
      stamps.set(record.stamps, index * 4);
    }
    return record.key;
  });
  const inline = size < SMALL_SEGMENT ? bodies.bodies : undefined;
  const segment: Segment = {
    ...place,
    deletes,
    keys,
    ranks,
    flags,
    stamps,
    indexed: indexedColumns(records, columns),
    sizes,
    size,
    ...(blobBytes > 0 && { blobBytes }),
    bodies: inline,
  };
  return { segment, bodies };
}

/** The columns of indexes for these records. A column is left out unless every record has its key. */
export function indexedColumns(
  records: readonly StoredRecord[],
  columns: IndexColumns,
): Segment['indexed'] {
  const indexed: Record<string, readonly unknown[]> = {};
  for (const [at, column] of columns.entries()) {
    if (column === undefined) continue;
    if (records.some(({ indexKeys }) => !indexKeys || indexKeys.length <= at)) continue;
    indexed[column] = records.map(({ indexKeys }) => (indexKeys as readonly unknown[])[at]);
  }
  return Object.keys(indexed).length > 0 ? indexed : undefined;
}

/** The size of a segment's deletes. */
export function deletesSize(deletes: readonly string[]): number {
  return deletes.reduce((size, key) => size + key.length, 0);
}

/** The records of a segment, without their bodies. Keys are `undefined` where the segment lacks a column. */
export function readRecords(segment: Segment, columns: IndexColumns): StoredRecord[] {
  const { number, keys, ranks, flags, stamps, sizes } = segment;
  const indexed = columns.map((column) => columnOf(segment, column) ?? []);
  const records: StoredRecord[] = [];
  for (let index = 0; index < keys.length; index++) {
    const record = new StoredRecord(
      keys[index] as string,
      ranks[index] as number,
      flags[index] as number,
      stamps && readStamps(stamps, index),
      undefined,
    );
    record.segment = number;
    record.index = index;
    record.size = sizes[index] as number;
    // Opening comes by here for each record: half the time of `map`.
    if (indexed.length > 0) {
      const indexKeys: unknown[] = [];
      for (const column of indexed) indexKeys.push(column[index]);
      record.indexKeys = indexKeys;
    }
    records.push(record);
  }
  return records;
}

/** A column of a segment; `undefined` where the segment was written while no such index was kept. */
export function columnOf(
  { indexed }: Segment,
  column: string | undefined,
): readonly unknown[] | undefined {
  return column === undefined ? undefined : indexed?.[column];
}

/** Those of a record, where it has any. */
export function readStamps(stamps: Float64Array, index: number): Stamps | undefined {
  const at = index * 4;
  const four = [stamps[at], stamps[at + 1], stamps[at + 2], stamps[at + 3]] as unknown as Stamps;
  return four[0] || four[1] || four[2] || four[3] ? four : undefined;
}
