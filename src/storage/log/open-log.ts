import { StorageError } from '../../errors/storage-error.ts';
import { type Checkpoint, directoryKey } from '../checkpoint/checkpoint-format.ts';
import type { Storage } from '../drivers/driver.ts';
import { manifestLost, segmentLost } from '../segments/lost-data.ts';
import { type Segment, segmentProblem } from '../segments/segment.ts';
import type { Watermark } from '../segments/watermarks.ts';
import { FORMAT, type Manifest } from './manifest.ts';

/** Segments read in one request: about 2 MB. */
const READ_AHEAD = 100;

/** Segments read with the manifest: all of a small collection. Of a large one, the first reads come before the others. */
const FIRST = 16;

/** The stored log of a collection. */
export interface StoredLog {
  /** `undefined` where there is no such collection. */
  readonly manifest: Manifest | undefined;
  /** Watermarks, in the order in which they were stored; of a dropped collection, too. */
  readonly watermarks: readonly Watermark[];
  /** The highest number of a segment in storage, live or not. */
  readonly highest: number;
  /** Segments that are not live: backups reference them, or they are orphans. */
  readonly others: readonly number[];
}

/** The manifest of a collection, `undefined` where there is none. */
export async function readManifest(storage: Storage, name: string): Promise<Manifest | undefined> {
  const [manifest] = (await storage.getMany('collections', [[name]])) as [Manifest | undefined];
  if (manifest) checkFormat(name, manifest.format);
  return manifest;
}

/** Above any number of collections. */
const ALL_COLLECTIONS = 100_000;

/** The manifests of all collections, dropped ones included. */
export function listManifests(storage: Storage): Promise<Manifest[]> {
  const range = { prefix: [], limit: ALL_COLLECTIONS };
  return storage.list('collections', range) as Promise<Manifest[]>;
}

/** @throws {StorageError} `format_newer` */
export function checkFormat(name: string, format: number): void {
  if (format <= FORMAT) return;
  throw new StorageError(
    'format_newer',
    `Collection "${name}" was written in format ${format}; this version of cairndb knows ${FORMAT}. Update this app.`,
    { place: name },
  );
}

/**
 * Reads a collection: its manifest, then the live segments, lowest number first. Reads ahead while segments are folded.
 *
 * @param begin Called with the manifest and the checkpoint, before any segment; what it returns is waited for.
 * @throws {StorageError} `data_damaged` when the manifest or a segment is missing, or cannot be read.
 */
export async function readLog(
  storage: Storage,
  name: string,
  begin: (manifest: Manifest, checkpoint: Checkpoint | undefined) => void | Promise<void>,
  take: (segment: Segment) => void,
): Promise<StoredLog> {
  // Read at once, in parallel with the manifest.
  const first = readChunk(storage, name, 0, FIRST);
  const directory = later(storage.getMany('bodies', [directoryKey(name)]));
  const manifest = await readManifest(storage, name);
  if (!manifest) {
    if ((await first).length > 0) throw manifestLost(name);
    return { manifest, watermarks: [], highest: 0, others: [] };
  }
  const { segments: named, next, watermarks = [] } = manifest;
  if (manifest.dropped) return { manifest: undefined, watermarks, highest: next - 1, others: [] };
  const [checkpoint] = (await directory) as [Checkpoint | undefined];
  await begin(manifest, checkpoint);
  const applied = [...watermarks];
  const wanted = new Set(named);
  const seen = new Set<number>();
  const others: number[] = [];
  let highest = next - 1;
  let chunk: Promise<Segment[]> | undefined = first;
  let size = FIRST;
  while (chunk) {
    const segments: Segment[] = await chunk;
    const last = segments.at(-1);
    chunk = last && segments.length === size ? readChunk(storage, name, last.number) : undefined;
    size = READ_AHEAD;
    for (const segment of segments) {
      const { number, after, staged } = segment;
      highest = Math.max(highest, number);
      // Below `next` the manifest decides: it does not name replaced segments.
      const isLive = number < next ? wanted.has(number) : !staged;
      if (!isLive) {
        others.push(number);
        continue;
      }
      if (number >= next && after >= next && !seen.has(after)) throw segmentLost(name, after);
      checkSegment(name, number, segment);
      // The manifest includes the watermarks below `next`.
      if (number >= next) applied.push(...(segment.watermarks ?? []));
      seen.add(number);
      take(segment);
    }
  }
  for (const number of named) if (!seen.has(number)) throw segmentLost(name, number);
  return { manifest, watermarks: applied, highest, others };
}

/** The numbers of the live segments, in ascending order, missing ones included. */
export async function listLive(
  storage: Storage,
  name: string,
  manifest: Manifest | undefined,
): Promise<number[]> {
  const { segments: named = [], next = 1 } = manifest ?? {};
  const keys = await storage.keys('segments', [name]);
  const later = keys.filter(([, number]) => (number as number) >= next);
  const live: number[] = [];
  for (let from = 0; from < later.length; from += READ_AHEAD) {
    const some = later.slice(from, from + READ_AHEAD);
    const segments = (await storage.getMany('segments', some)) as (Segment | undefined)[];
    for (const [index, [, number]] of some.entries()) {
      if (!segments[index]?.staged) live.push(number as number);
    }
  }
  return [...named, ...live].sort((a, b) => a - b);
}

/**
 * Reads segments by number; reads ahead while segments are folded.
 *
 * @throws {StorageError} `data_damaged` when one is missing or cannot be read.
 */
export async function readListed(
  storage: Storage,
  name: string,
  numbers: readonly number[],
  take: (segment: Segment) => void,
): Promise<void> {
  const read = (from: number): Promise<unknown[]> => {
    const keys = numbers.slice(from, from + READ_AHEAD).map((number) => [name, number]);
    return later(storage.getMany('segments', keys));
  };
  let chunk = read(0);
  for (let from = 0; from < numbers.length; from += READ_AHEAD) {
    const segments = await chunk;
    chunk = read(from + READ_AHEAD);
    for (const [index, segment] of segments.entries()) {
      checkSegment(name, numbers[from + index] as number, segment);
      take(segment as Segment);
    }
  }
}

function readChunk(
  storage: Storage,
  name: string,
  after: number,
  limit = READ_AHEAD,
): Promise<Segment[]> {
  const range = { prefix: [name], after: [name, after], limit };
  return later(storage.list('segments', range)) as Promise<Segment[]>;
}

/** Marks a promise that may be awaited late or never: its failure must not count as unhandled. */
function later<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

function checkSegment(name: string, number: number, segment: unknown): void {
  const problem = segmentProblem(segment, number);
  if (problem) throw segmentLost(name, number, problem);
}
