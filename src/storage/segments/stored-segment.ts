import type { StorageKey, StorageOperation, StoragePut } from '../drivers/driver.ts';
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
 * Stores a segment, with a checksum over everything but its encoded documents, which have their
 * own.
 *
 * @param name Of the collection.
 */
export function putSegment(name: string, segment: Segment): StoragePut {
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

/** The newest segment of a collection: no later one names it, so its loss would go unnoticed. */
interface LastSegment {
  readonly number: number;
}

/**
 * Beside the bodies of segments, whose keys are numbers: a save writes it without a check of the
 * epoch.
 */
export function lastSegmentKey(collection: string): StorageKey {
  return [collection, 'last'];
}

/** Notes the newest segment, in the transaction that stores it. @param number 0 for none. */
export function noteLastSegment(collection: string, number: number): StorageOperation {
  const key = lastSegmentKey(collection);
  const value: LastSegment = { number };
  return { type: 'put', store: 'bodies', key, value: seal(key, value) };
}

export function noNote(collection: string): StorageOperation {
  return { type: 'delete', store: 'bodies', key: lastSegmentKey(collection) };
}

/**
 * The number that a save has noted, 0 for none, -1 without a note. Below `next` of the manifest it
 * says nothing: the manifest lists those, and a replaced leader may have written it.
 */
export function lastSegmentOf(collection: string, value: unknown): number {
  const last = value as LastSegment | undefined;
  return isIntact(lastSegmentKey(collection), last) ? last.number : -1;
}
