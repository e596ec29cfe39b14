import type { Body } from '../../codec/body.ts';
import { bodySize } from '../../codec/size.ts';
import type { Storage, StorageOperation } from '../drivers/driver.ts';
import { seal } from '../integrity/seal.ts';
import { buildSegment } from '../segments/segment.ts';
import type { StoredRecord } from '../segments/stored-record.ts';
import { WARM_MOST, WarmSet, warmKey } from './warm-set.ts';

/** Characters of a warm set, at most. It is read with each opening. */
const WARM_SIZE = 256 * 1024;

/** Bytes of a document's place, checksum and size. */
const PLACE_SIZE = 20;

/** All documents are in the one value. */
const IN_ONE = { full: Number.POSITIVE_INFINITY, small: Number.POSITIVE_INFINITY };

export function makeWarmSet(records: readonly StoredRecord[], bodies: readonly Body[]): WarmSet {
  const content = { records, bodies, deletes: [], size: 0, blobBytes: 0 };
  const { segment } = buildSegment(content, { number: 0, after: 0 }, [], IN_ONE);
  return new WarmSet({
    ...segment,
    fromSegments: Float64Array.from(records, (record) => record.segment),
    fromRows: Uint32Array.from(records, ({ index }) => index),
  });
}

/** Stores one in place of the one before. */
export function putWarmSet({ value }: WarmSet, collection: string): StorageOperation {
  const key = warmKey(collection);
  return { type: 'put', store: 'bodies', key, value: seal(key, value) };
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
