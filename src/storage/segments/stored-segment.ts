import type { StorageOperation } from '../drivers/driver.ts';
import { isIntact, type Sealed, seal } from '../integrity/seal.ts';
import { hashKeys } from './key-hashes.ts';
import { segmentLost } from './lost-data.ts';
import type { Segment } from './segment.ts';

/** A segment as it was written, with the hashes of its keys. */
export interface IntactSegment {
  readonly segment: Segment;
  readonly hashes: Uint32Array;
}

/**
 * Stores a segment, with a checksum over everything but its encoded documents, which have their own.
 *
 * @param name Of the collection.
 */
export function putSegment(name: string, segment: Segment): StorageOperation {
  const key = [name, segment.number];
  const { checksum } = seal(key, covered(segment, hashKeys(segment.keys)));
  return { type: 'put', store: 'segments', key, value: { ...segment, checksum } };
}

/** What there is under the number of a segment; `undefined` if it is missing or damaged. */
export function readSegment(
  name: string,
  number: number,
  value: unknown,
): IntactSegment | undefined {
  const segment = value as Sealed<Segment> | undefined;
  if (!segment || !Array.isArray(segment.keys) || segment.number !== number) return undefined;
  if (!segment.keys.every((key) => typeof key === 'string')) return undefined;
  const hashes = hashKeys(segment.keys);
  const isWhole = isIntact([name, number], covered(segment, hashes));
  return isWhole ? { segment, hashes } : undefined;
}

/** @throws {StorageError} `data_damaged` */
export function readIntact(name: string, number: number, value: unknown): IntactSegment {
  const found = readSegment(name, number, value);
  if (!found) throw segmentLost(name, number, segmentProblem(value));
  return found;
}

/** What is wrong with a segment that is not intact, as half a sentence. */
export function segmentProblem(value: unknown): string {
  return value === undefined
    ? 'is missing from storage'
    : 'is damaged in storage (its checksum differs)';
}

/** The hashes of the keys stand for them: opening needs those anyway. */
function covered<T extends Segment>(segment: T, keys: Uint32Array): object {
  return { ...segment, keys, bodies: undefined };
}
