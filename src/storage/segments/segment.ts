import type { Body } from '../../codec/body.ts';
import { type BlobBytes, bodySize } from '../../codec/size.ts';
import type { Storage } from '../drivers/driver.ts';
import { bodyChecks } from '../integrity/body-checks.ts';
import type { Stamps, StoredRecord } from './stored-record.ts';
import type { Watermark } from './watermarks.ts';

/**
 * Size of a full segment, in characters of keys and encoded documents. Chromium compresses values
 * above 64 KB and writes them two to four times faster; larger ones slow down scattered reads
 * (docs/decisions/002-segment-format.md).
 */
export const SEGMENT_SIZE = 96 * 1024;

export interface SegmentSizes {
  /** A segment is cut at this size. */
  readonly full: number;
  /** One below this size is small: it is one value, and compaction merges it. */
  readonly small: number;
}

export function segmentSizes({ valueLimit }: Pick<Storage, 'valueLimit'>): SegmentSizes {
  const full = Math.min(SEGMENT_SIZE, valueLimit ?? SEGMENT_SIZE);
  return { full, small: (full * 2) / 3 };
}

/**
 * A segment as opening reads it: columns of all record fields but the encoded documents, a sixth of
 * its bytes. Structured clone reads columns in half the time of rows.
 */
export interface Segment {
  /** Position in the log: of two versions of a key the one with the higher number wins. */
  readonly number: number;
  /** Number of the newest live segment before it, 0 for none: a gap is a lost segment. */
  readonly after: number;
  /** Ignored unless the manifest names it: an import that is not complete. */
  readonly staged?: true | undefined;
  /** Watermarks of the clients whose changes were saved along with it. */
  readonly watermarks?: readonly Watermark[] | undefined;
  /** Deleted keys. A record of the same segment with such a key is newer. */
  readonly deletes: readonly string[];
  readonly keys: readonly string[];
  readonly ranks: Float64Array;
  readonly flags: Uint8Array;
  /** Four for each record, as in {@link Stamps}; left out where no record has stamps. */
  readonly stamps: Float64Array | undefined;
  /**
   * Index keys of each record, by column name; left out where the collection had no index. Opening
   * need not decode documents to rebuild indexes.
   */
  readonly indexed: Readonly<Record<string, readonly unknown[]>> | undefined;
  /** {@link StoredRecord.remoteVersion} of each record; left out where none has one. */
  readonly remoteVersions?: readonly (string | undefined)[] | undefined;
  /** Each record's share of `size`. */
  readonly sizes: Uint32Array;
  /** Rough size in bytes, without Blobs. */
  readonly size: number;
  /** Bytes of Blobs, left out for none. */
  readonly blobBytes?: number | undefined;
  /** The checksum of each encoded document, wherever that is. */
  readonly checks: Uint32Array;
  /** Inline bodies of a small segment; `undefined` where they are a value of their own. */
  readonly bodies: readonly Body[] | undefined;
}

/** Column names by offset in {@link StoredRecord.indexKeys}; `undefined` for an unused one. */
export type IndexColumns = readonly (string | undefined)[];

/**
 * The encoded documents of a segment, in the order of its records. docs/decisions/012-body-store.md
 * has the figures.
 */
export interface SegmentBodies {
  readonly number: number;
  readonly size: number;
  /** `undefined` in place of one that is damaged. */
  readonly bodies: readonly (Body | undefined)[];
}

export interface WholeSegment {
  readonly segment: Segment;
  /** `undefined` in place of one that is damaged. */
  readonly bodies: readonly (Body | undefined)[];
}

/** The columns of a segment that say something of each record. */
export type SegmentColumns = Pick<
  Segment,
  'keys' | 'ranks' | 'flags' | 'stamps' | 'indexed' | 'remoteVersions' | 'sizes'
>;

/** Records that came together, as the content of a segment. */
interface ContentRows {
  /** Must not be called once one of their records is an object. */
  columns(names: IndexColumns): SegmentColumns;
  /** Must be called when they are stored. */
  stored(segment: Segment): void;
}

export interface SegmentContent {
  readonly deletes: readonly string[];
  /** Left empty where {@link rows} are columns still. */
  readonly records: readonly StoredRecord[];
  /** Left out where its records did not come together. */
  readonly rows?: ContentRows | undefined;
  /** The encoded documents of the records. */
  readonly bodies: readonly Body[];
  readonly size: number;
  readonly blobBytes: number;
}

/** Rough bytes of a segment in storage. */
export function bytesOf({ size, blobBytes = 0 }: Pick<Segment, 'size' | 'blobBytes'>): number {
  return size + blobBytes;
}

/** Splits changes into contents of full segments, deletes first. */
export function* cutSegments(
  deletes: Iterable<string>,
  records: Iterable<StoredRecord>,
  bodyOf: (record: StoredRecord) => Body,
  { full }: SegmentSizes,
): Generator<SegmentContent> {
  let content = emptyContent();
  for (const key of deletes) {
    content.deletes.push(key);
    content.size += key.length;
    if (content.size >= full) {
      yield content;
      content = emptyContent();
    }
  }
  for (const record of records) {
    const body = bodyOf(record);
    content.records.push(record);
    content.bodies.push(body);
    const { key, stamps, remoteVersion } = record;
    record.size = rowSize(key, body, stamps !== undefined, remoteVersion, content);
    content.size += record.size;
    if (content.size >= full) {
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

/** A record's share of the size of its segment. */
export function rowSize(
  key: string,
  body: Body,
  hasStamps: boolean,
  remoteVersion: string | undefined,
  blobs: BlobBytes,
): number {
  const managed = 9 + (hasStamps ? 32 : 0) + (remoteVersion?.length ?? 0);
  return key.length + managed + bodySize(body, blobs);
}

/** Builds a segment; its encoded documents are inline only if it is small. */
export function buildSegment(
  content: SegmentContent,
  position: Pick<Segment, 'number' | 'after' | 'staged' | 'watermarks'>,
  columns: IndexColumns,
  { small }: SegmentSizes,
) {
  const { records, rows, deletes, size, blobBytes } = content;
  const { number } = position;
  const bodies: SegmentBodies = { number, size, bodies: content.bodies };
  const inline = size < small ? content.bodies : undefined;
  const segment: Segment = {
    ...position,
    deletes,
    ...(rows && records.length === 0 ? rows.columns(columns) : recordColumns(records, columns)),
    size,
    ...(blobBytes > 0 && { blobBytes }),
    checks: bodyChecks(content.bodies),
    bodies: inline,
  };
  return { segment, bodies };
}

function recordColumns(records: readonly StoredRecord[], columns: IndexColumns): SegmentColumns {
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
  const isReplicated = records.some(({ remoteVersion }) => remoteVersion !== undefined);
  return {
    ...{ keys, ranks, flags, stamps, sizes },
    indexed: indexedColumns(records, columns),
    ...(isReplicated && { remoteVersions: records.map((record) => record.remoteVersion) }),
  };
}

/** The index columns of records. A column is left out unless every record has its key. */
export function indexedColumns(
  records: readonly StoredRecord[],
  columns: IndexColumns,
): Segment['indexed'] {
  const indexed: Record<string, readonly unknown[]> = {};
  for (const [offset, column] of columns.entries()) {
    if (column === undefined) continue;
    if (records.some(({ indexKeys }) => !indexKeys || indexKeys.length <= offset)) continue;
    indexed[column] = records.map(({ indexKeys }) => (indexKeys as readonly unknown[])[offset]);
  }
  return Object.keys(indexed).length > 0 ? indexed : undefined;
}

export function deletesSize(deletes: readonly string[]): number {
  return deletes.reduce((size, key) => size + key.length, 0);
}

/** A column of a segment; `undefined` where the segment was written without the index. */
export function columnOf(
  { indexed }: Segment,
  column: string | undefined,
): readonly unknown[] | undefined {
  return column === undefined ? undefined : indexed?.[column];
}

export function readStamps(stamps: Float64Array, index: number): Stamps | undefined {
  const at = index * 4;
  const four = [stamps[at], stamps[at + 1], stamps[at + 2], stamps[at + 3]] as unknown as Stamps;
  return four[0] || four[1] || four[2] || four[3] ? four : undefined;
}
