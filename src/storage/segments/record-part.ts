import type { Body } from '../../codec/body.ts';
import {
  columnOf,
  type IndexColumns,
  readStamps,
  rowSize,
  type Segment,
  type SegmentColumns,
  type SegmentContent,
  type SegmentSizes,
} from './segment.ts';
import { StoredRecord } from './stored-record.ts';

/** Records as columns: one item for each, in the order of their rows. */
export interface RecordColumns extends Omit<SegmentColumns, 'indexed'> {
  readonly bodies: (Body | undefined)[] | undefined;
  /** A list for each index, by its offset; `undefined` for one that has no keys yet. */
  readonly indexKeys: readonly (readonly unknown[] | undefined)[];
  /** Number of the segment of each, 0 for none. */
  readonly segments: Float64Array;
  /** Index in that segment. */
  readonly indexes: Uint32Array;
}

/** Consecutive rows of a part. */
interface Rows {
  readonly from: number;
  readonly to: number;
}

/**
 * Records that came together, with an insert or a segment. They are columns, and a record is made
 * on demand, once: from then on it is the version, and what the columns say about it no longer
 * counts. docs/decisions/036-records-in-columns.md has the figures.
 */
export class RecordPart {
  readonly keys: readonly string[];
  /** All flags that its records had when they came. */
  readonly allFlags: number;
  /** Left out once every record is made. */
  #columns: RecordColumns | undefined;
  #bodies: (Body | undefined)[] | undefined;
  /** By row; sparse. */
  readonly #made: (StoredRecord | undefined)[];
  #unmade: number;

  /** @param columns Taken over: nothing else may change them. */
  constructor(columns: RecordColumns);
  /** @param made All records; nothing else may change the list. */
  constructor(columns: { readonly made: readonly StoredRecord[] });
  constructor(columns: RecordColumns | { readonly made: readonly StoredRecord[] }) {
    let allFlags = 0;
    if ('made' in columns) {
      this.#made = columns.made as StoredRecord[];
      this.keys = columns.made.map(({ key }) => key);
      this.#unmade = 0;
      for (const { flags } of columns.made) allFlags |= flags;
    } else {
      this.#made = [];
      this.keys = columns.keys;
      this.#columns = columns;
      this.#bodies = columns.bodies;
      this.#unmade = this.keys.length;
      for (const flags of columns.flags) allFlags |= flags;
    }
    this.allFlags = allFlags;
  }

  get length(): number {
    return this.keys.length;
  }

  /** What is known of the records that are not made; `undefined` once all are. */
  get columns(): RecordColumns | undefined {
    return this.#columns;
  }

  /** The record of a row, the same one each time. */
  at(row: number): StoredRecord {
    return this.#made[row] ?? this.#make(row);
  }

  made(row: number): StoredRecord | undefined {
    return this.#made[row];
  }

  eachMade(visit: (record: StoredRecord, row: number) => void): void {
    this.#made.forEach((record, row) => {
      if (record) visit(record, row);
    });
  }

  /** All records; none may be forgotten. */
  records(): StoredRecord[] {
    if (this.isMade) return this.#made.slice() as StoredRecord[];
    const records: StoredRecord[] = [];
    for (let row = 0; row < this.length; row++) records.push(this.at(row));
    return records;
  }

  get hasStamps(): boolean {
    return (this.#columns ?? this.#made[0])?.stamps !== undefined;
  }

  get isMade(): boolean {
    return this.#unmade === 0;
  }

  /** Whether it has made this record. Ranks must ascend by one. */
  has(record: StoredRecord): boolean {
    return this.#made[record.rank - this.placeOf(0).rank] === record;
  }

  hasMade({ from, to }: Rows = { from: 0, to: this.length }): boolean {
    if (this.#unmade === this.length) return false;
    for (let row = from; row < to; row++) if (this.#made[row]) return true;
    return false;
  }

  /** Of a row: number of its segment, 0 for none, index and share of size there, and rank. */
  placeOf(row: number): Pick<StoredRecord, 'segment' | 'index' | 'size' | 'rank'> {
    const made = this.#made[row];
    if (made) return made;
    const { segments, indexes, sizes, ranks } = this.#columns ?? {};
    const at = (column?: ArrayLike<number>) => column?.[row] ?? 0;
    return { segment: at(segments), index: at(indexes), size: at(sizes), rank: at(ranks) };
  }

  body(row: number): Body | undefined {
    const made = this.#made[row];
    return made ? made.body : this.#bodies?.[row];
  }

  /** Forgets the record of a row that is in a segment: it was replaced or deleted. */
  free(row: number): void {
    if (this.placeOf(row).segment === 0) return;
    this.#made[row] = undefined;
    if (this.#bodies) this.#bodies[row] = undefined;
  }

  /** Rows as columns of a segment; none of their records may be made. */
  segmentColumns({ from, to }: Rows, sizes: Uint32Array, columns: IndexColumns): SegmentColumns {
    const { ranks, flags, stamps, indexKeys, remoteVersions } = this.#columns as RecordColumns;
    const indexed: Record<string, readonly unknown[]> = {};
    for (const [offset, column] of columns.entries()) {
      const keys = indexKeys[offset];
      if (column !== undefined && keys) indexed[column] = keys.slice(from, to);
    }
    return {
      keys: this.keys.slice(from, to),
      ranks: ranks.slice(from, to),
      flags: flags.slice(from, to),
      stamps: stamps?.slice(from * 4, to * 4),
      indexed: Object.keys(indexed).length > 0 ? indexed : undefined,
      remoteVersions: remoteVersions?.slice(from, to),
      sizes,
    };
  }

  /** Notes that rows were stored, one after another. */
  stored({ from, to }: Rows, { number, sizes }: Pick<Segment, 'number' | 'sizes'>): void {
    const columns = this.#columns;
    if (columns) {
      columns.segments.fill(number, from, to);
      columns.sizes.set(sizes, from);
    }
    for (let row = from; row < to; row++) {
      if (columns) columns.indexes[row] = row - from;
      const made = this.#made[row];
      if (!made) continue;
      made.segment = number;
      made.index = row - from;
      made.size = sizes[row - from] as number;
    }
  }

  /**
   * Drops the bodies of the records that are not made, if they are in segments. @returns whether
   * there were any.
   */
  dropBodies(): boolean {
    if (!this.#bodies || this.#columns?.segments.includes(0)) return false;
    this.#bodies = undefined;
    return true;
  }

  #make(row: number): StoredRecord {
    const columns = this.#columns as RecordColumns;
    const { indexKeys } = columns;
    const record = recordOf(columns, row, this.#bodies?.[row]);
    record.segment = columns.segments[row] as number;
    record.index = columns.indexes[row] as number;
    if (indexKeys.length > 0) record.indexKeys = itemsAt(indexKeys, row);
    this.#made[row] = record;
    if (--this.#unmade === 0) this.#columns = this.#bodies = undefined;
    return record;
  }
}

/** The records of a segment, without bodies. Index keys are there where it has the column. */
export function partOf(segment: Segment, columns: IndexColumns): RecordPart {
  const { number, keys, ranks, flags, stamps, sizes, remoteVersions } = segment;
  return new RecordPart({
    ...{ keys, ranks, flags, stamps, sizes, remoteVersions },
    bodies: undefined,
    indexKeys: columns.map((column) => columnOf(segment, column)),
    segments: new Float64Array(keys.length).fill(number),
    indexes: places(keys.length),
  });
}

/** The records of a segment as objects: half the time of making them from a part. */
export function readRecords(
  segment: Segment,
  columns: IndexColumns,
  bodies?: readonly (Body | undefined)[],
): StoredRecord[] {
  const indexed = columns.map((column) => columnOf(segment, column));
  const records: StoredRecord[] = [];
  for (let index = 0; index < segment.keys.length; index++) {
    const record = readRecord(segment, index, bodies?.[index]);
    if (indexed.length > 0) record.indexKeys = itemsAt(indexed, index);
    records.push(record);
  }
  return records;
}

/** A record of a segment, without index keys. */
export function readRecord(segment: Segment, row: number, body?: Body): StoredRecord {
  const record = recordOf(segment, row, body);
  record.segment = segment.number;
  record.index = row;
  return record;
}

/** A record of columns, which is in no segment yet. */
function recordOf(
  { keys, ranks, flags, stamps, sizes, remoteVersions }: Omit<SegmentColumns, 'indexed'>,
  row: number,
  body: Body | undefined,
): StoredRecord {
  const record = new StoredRecord(
    keys[row] as string,
    ranks[row] as number,
    flags[row] as number,
    stamps && readStamps(stamps, row),
    body,
  );
  record.size = sizes[row] as number;
  if (remoteVersions) record.remoteVersion = remoteVersions[row];
  return record;
}

/** The item of each list. Hot path: half the time of `map`. */
function itemsAt(lists: RecordColumns['indexKeys'], index: number): unknown[] {
  const items: unknown[] = [];
  for (const list of lists) items.push(list?.[index]);
  return items;
}

/** From 0 up. Hot path of opening: `Uint32Array.from` takes an iterator, and ten times as long. */
function places(length: number): Uint32Array {
  const indexes = new Uint32Array(length);
  for (let index = 1; index < length; index++) indexes[index] = index;
  return indexes;
}

/**
 * Splits a part of new records into contents of full segments. They are drawn as they are written.
 */
export function* cutPart(part: RecordPart, { full }: SegmentSizes): Generator<SegmentContent> {
  const { keys, length } = part;
  const hasStamps = part.hasStamps;
  for (let from = 0; from < length; ) {
    const bodies: Body[] = [];
    const sizes: number[] = [];
    const blobs = { blobBytes: 0 };
    let size = 0;
    let to = from;
    for (; to < length && size < full; to++) {
      const body = part.body(to) as Body;
      const own = rowSize(keys[to] as string, body, hasStamps, undefined, blobs);
      bodies.push(body);
      sizes.push(own);
      size += own;
    }
    const rows = { from, to };
    yield {
      deletes: [],
      records: part.hasMade(rows) ? recordsOf(part, rows, sizes) : [],
      rows: {
        columns: (names) => part.segmentColumns(rows, Uint32Array.from(sizes), names),
        stored: (segment) => part.stored(rows, segment),
      },
      bodies,
      size,
      ...blobs,
    };
    from = to;
  }
}

/** One of them is an object: what columns say of it does not count. */
function recordsOf(part: RecordPart, { from, to }: Rows, sizes: readonly number[]): StoredRecord[] {
  const records: StoredRecord[] = [];
  for (let row = from; row < to; row++) {
    const record = part.at(row);
    record.size = sizes[row - from] as number;
    records.push(record);
  }
  return records;
}
