import type { Body } from '../../codec/body.ts';
import { bodySize } from '../../codec/size.ts';
import type { Storage, StorageKey, StorageOperation } from '../drivers/driver.ts';
import { isIntact, seal } from '../integrity/seal.ts';
import { readRecord } from '../segments/record-part.ts';
import { buildSegment, type Segment } from '../segments/segment.ts';
import type { StoredRecord } from '../segments/stored-record.ts';
import { checkpointKey } from './checkpoint-format.ts';

/** Documents of a warm set, at most: as many as a first read may find. */
export const WARM_MOST = 1024;

/** Characters of a warm set, at most. It is read with each opening. */
const WARM_SIZE = 256 * 1024;

/** Bytes of a document's place, checksum and size. */
const PLACE_SIZE = 20;

/** All documents are in the one value. */
const IN_ONE = { full: Number.POSITIVE_INFINITY, small: Number.POSITIVE_INFINITY };

/**
 * What is stored: the documents as a segment, and where each was found. A row of a segment never
 * changes, so its copy is right for as long as that segment counts.
 */
interface WarmValue extends Segment {
  /** The number of the segment of each. */
  readonly fromSegments: Float64Array;
  /** The row there. */
  readonly fromRows: Uint32Array;
}

/**
 * Copies of the documents that the last visit read first, in one value. Where they were found in
 * 150 segments, the same reads need none of these now. docs/decisions/040-first-reads.md has the
 * figures.
 */
export class WarmSet {
  readonly #value: WarmValue;
  /** By segment and row, their row here. */
  readonly #rows = new Map<number, Map<number, number>>();

  /** @returns an empty one where none can be read: the documents are in their segments, too. */
  static async read(storage: Storage, collection: string): Promise<WarmSet> {
    const key = warmKey(collection);
    const [value] = (await storage.getMany('bodies', [key]).catch(() => [])) as [WarmValue?];
    return isIntact(key, value) ? new WarmSet(value) : WarmSet.of([], []);
  }

  static of(records: readonly StoredRecord[], bodies: readonly Body[]): WarmSet {
    const content = { records, bodies, deletes: [], size: 0, blobBytes: 0 };
    const { segment } = buildSegment(content, { number: 0, after: 0 }, [], IN_ONE);
    return new WarmSet({
      ...segment,
      fromSegments: Float64Array.from(records, (record) => record.segment),
      fromRows: Uint32Array.from(records, ({ index }) => index),
    });
  }

  private constructor(value: WarmValue) {
    this.#value = value;
    for (const [row, number] of value.fromSegments.entries()) {
      const known = this.#rows.get(number) ?? new Map<number, number>();
      this.#rows.set(number, known.set(value.fromRows[row] as number, row));
    }
  }

  get keys(): readonly string[] {
    return this.#value.keys;
  }

  /** The body of this version; `undefined` where it is not here. */
  body({ segment, index }: Pick<StoredRecord, 'segment' | 'index'>): Body | undefined {
    const row = this.#rowOf(segment, index);
    return row === undefined ? undefined : this.#value.bodies?.[row];
  }

  /** The record of a row of a segment, with its body; `undefined` where it is not here. */
  record(number: number, index: number): StoredRecord | undefined {
    const row = this.#rowOf(number, index);
    if (row === undefined) return undefined;
    const record = readRecord(this.#value, row, this.#value.bodies?.[row]);
    record.segment = number;
    record.index = index;
    return record;
  }

  #rowOf(number: number, index: number): number | undefined {
    return this.#rows.get(number)?.get(index);
  }

  /** Stores it in place of the one before. */
  put(collection: string): StorageOperation {
    const key = warmKey(collection);
    return { type: 'put', store: 'bodies', key, value: seal(key, this.#value) };
  }
}

/** Of some records those that a warm set has room for, from the first on. */
export function* fitting(
  records: Iterable<StoredRecord>,
  { valueLimit }: Pick<Storage, 'valueLimit'>,
): Generator<StoredRecord> {
  let left = Math.min(WARM_SIZE, valueLimit ?? WARM_SIZE);
  let count = 0;
  for (const record of records) {
    if (count === WARM_MOST) return;
    const size = record.size + PLACE_SIZE;
    if (size > left) continue;
    left -= size;
    count++;
    yield record;
  }
}

/**
 * Whether a document may be in a warm set: one with Blobs may not, as their bytes count in no size.
 */
export function mayBeWarm(body: Body): boolean {
  const blobs = { blobBytes: 0 };
  bodySize(body, blobs);
  return blobs.blobBytes === 0;
}

function warmKey(collection: string): StorageKey {
  return checkpointKey(collection, 'warm');
}
