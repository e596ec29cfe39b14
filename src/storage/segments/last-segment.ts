import type { StorageKey, StorageOperation } from '../drivers/driver.ts';
import { isIntact, seal } from '../integrity/seal.ts';

/** The newest segment of a collection: no later one names it, so its loss would go unnoticed. */
interface LastSegment {
  readonly number: number;
}

/** Beside the bodies of segments, whose keys are numbers: a save writes it without a check of the epoch. */
export function lastSegmentKey(collection: string): StorageKey {
  return [collection, 'last'];
}

/** Notes the newest segment, in the transaction that stores it. @param number 0 for none. */
export function noteLastSegment(collection: string, number: number): StorageOperation {
  const key = lastSegmentKey(collection);
  if (number === 0) return { type: 'delete', store: 'bodies', key };
  const value: LastSegment = { number };
  return { type: 'put', store: 'bodies', key, value: seal(key, value) };
}

/**
 * The number that a save has noted, 0 for none. Below `next` of the manifest it says nothing: the manifest lists those, and a
 * replaced leader may have written it.
 */
export function lastSegmentOf(collection: string, value: unknown): number {
  const last = value as LastSegment | undefined;
  return isIntact(lastSegmentKey(collection), last) ? last.number : 0;
}
