import type { Storage } from '../drivers/driver.ts';
import type { Segment, SegmentBodies } from './segment.ts';
import { type IntactSegment, readIntact, readSegment, segmentProblem } from './stored-segment.ts';

/** Segments read in one request: about 2 MB. */
export const READ_AHEAD = 100;
/** The same while others read from storage: a few milliseconds. */
export const READ_AHEAD_SHARED = 10;
/** The same with their bodies: about 2.5 MB. */
const READ_AHEAD_WITH_BODIES = 25;

export type TakeSegment = (segment: Segment, hashes: Uint32Array, bodies?: unknown) => void;

/** A segment in storage, live or not. */
export interface FoundSegment {
  readonly number: number;
  /** `undefined` where it is damaged. */
  readonly intact: IntactSegment | undefined;
  /** What is wrong with it, as half a sentence. */
  readonly problem?: string | undefined;
}

/** Reads the segments behind a number, lowest number first. */
export async function readSegmentsAfter(
  storage: Storage,
  name: string,
  after: number,
  limit: number,
): Promise<FoundSegment[]> {
  const values = await requestSegmentsAfter(storage, name, after, limit);
  return checkSegmentsAfter(storage, name, after, limit, values);
}

/** Requests them, for {@link checkSegmentsAfter}. */
export function requestSegmentsAfter(
  storage: Storage,
  name: string,
  after: number,
  limit: number,
): Promise<unknown[]> {
  return storage.list('segments', { prefix: [name], after: [name, after], limit });
}

/** Compares their checksums: some milliseconds for the first ones, before the code is compiled. */
export async function checkSegmentsAfter(
  storage: Storage,
  name: string,
  after: number,
  limit: number,
  values: readonly unknown[],
): Promise<FoundSegment[]> {
  const found: FoundSegment[] = [];
  let last = after;
  for (const value of values) {
    const { number = 0 } = (value ?? {}) as Partial<Segment>;
    const intact = number > last ? readSegment(name, number, value) : undefined;
    if (!intact) return readByKeys(storage, name, after, limit);
    found.push({ number, intact });
    last = number;
  }
  return found;
}

/** The same, by their keys: a damaged value does not say its number. */
async function readByKeys(
  storage: Storage,
  name: string,
  after: number,
  limit: number,
): Promise<FoundSegment[]> {
  const all = await storage.keys('segments', [name]);
  const keys = all.filter(([, number]) => (number as number) > after).slice(0, limit);
  const values = await storage.getMany('segments', keys);
  return keys.map(([, key], index) => {
    const number = key as number;
    const value = values[index];
    return { number, intact: readSegment(name, number, value), problem: segmentProblem(value) };
  });
}

/**
 * Reads segments by number; reads ahead while segments are taken.
 *
 * @param withBodies Whether to read the bodies too, in requests that overlap with those of
 *   segments.
 * @throws {StorageError} `data_damaged` when one is missing or damaged.
 */
export async function readListed(
  storage: Storage,
  name: string,
  numbers: readonly number[],
  take: TakeSegment,
  withBodies = false,
): Promise<void> {
  const ahead = withBodies ? READ_AHEAD_WITH_BODIES : READ_AHEAD;
  const read = (from: number): Promise<unknown[][]> => {
    const keys = numbers.slice(from, from + ahead).map((number) => [name, number]);
    const stores = withBodies ? (['segments', 'bodies'] as const) : (['segments'] as const);
    return later(Promise.all(stores.map((store) => storage.getMany(store, keys))));
  };
  let chunk = read(0);
  for (let from = 0; from < numbers.length; from += ahead) {
    const [segments = [], apart] = await chunk;
    chunk = read(from + ahead);
    for (const [index, value] of segments.entries()) {
      const { segment, hashes } = readIntact(name, numbers[from + index] as number, value);
      const bodies = apart?.[index] as Partial<SegmentBodies> | undefined;
      take(segment, hashes, withBodies ? (segment.bodies ?? bodies?.bodies) : undefined);
    }
  }
}

/** Marks a promise that may be awaited late or never: its failure must not count as unhandled. */
export function later<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
