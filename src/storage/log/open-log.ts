import { StorageError } from '../../errors/errors.ts';
import { type Checkpoint, directoryKey } from '../checkpoint/checkpoint-format.ts';
import type { Storage } from '../drivers/driver.ts';
import { isIntact } from '../integrity/seal.ts';
import { manifestLost, segmentLost } from '../segments/lost-data.ts';
import {
  checkSegmentsAfter,
  type FoundSegment,
  later,
  READ_AHEAD,
  READ_AHEAD_SHARED,
  readSegmentsAfter,
  requestSegmentsAfter,
  type TakeSegment,
} from '../segments/read-segments.ts';
import { SEGMENT_SIZE, segmentSizes } from '../segments/segment.ts';
import { lastSegmentKey, lastSegmentOf } from '../segments/stored-segment.ts';
import type { Watermark } from '../segments/watermarks.ts';
import { FORMAT, type Manifest } from './manifest.ts';

/**
 * Size of the segments read with the manifest: all of a small collection. The first reads of a
 * large one wait for them.
 */
const FIRST = 2 * SEGMENT_SIZE;

export interface StoredLog {
  /** `undefined` where there is none; a tombstone where the collection was dropped. */
  readonly manifest: Manifest | undefined;
  /** Watermarks, in the order in which they were stored; of a dropped collection, too. */
  readonly watermarks: readonly Watermark[];
  /** The highest number of a segment in storage, live or not. */
  readonly highest: number;
  /** Segments that are not live: backups reference them, or they are orphans. */
  readonly others: readonly number[];
}

/** Takes what the opening of a collection reads. */
export interface LogReader {
  /**
   * Called once with the manifest, the checkpoint and the number of the newest segment, before any
   * segment; what it returns is waited for.
   */
  readonly begin?: (
    manifest: Manifest,
    checkpoint: Checkpoint | undefined,
    last: number,
  ) => void | Promise<void>;
  /** Called with each live segment, lowest number first. */
  readonly take: TakeSegment;
  /** Called before more segments are read; what it returns is waited for: whether others wait. */
  readonly pause?: (() => Promise<boolean>) | undefined;
  /** Called where the newest segments may be missing: then their note is missing, too. */
  readonly lost?: ((error: StorageError) => void) | undefined;
}

/**
 * The manifest of a collection, `undefined` where there is none.
 *
 * @throws {StorageError} `format_newer`, `data_damaged`
 */
export async function readManifest(storage: Storage, name: string): Promise<Manifest | undefined> {
  const [value] = await storage.getMany('collections', [[name]]);
  return checkManifest(name, value);
}

/** @throws {StorageError} `data_damaged`, `format_newer` */
export function checkManifest(name: string, value: unknown): Manifest | undefined {
  const manifest = value as Manifest | undefined;
  // A newer one may have another checksum.
  if (typeof manifest?.format === 'number') checkFormat(name, manifest.format);
  if (manifest === undefined || isIntact([name], manifest)) return manifest;
  throw manifestLost(name, 'is damaged in storage (its checksum differs)');
}

/**
 * Reads a collection: its manifest, then the live segments, lowest number first. Reads ahead while
 * segments are folded.
 *
 * @throws {StorageError} `data_damaged` when the manifest or a segment is missing, or damaged.
 */
export async function readLog(
  storage: Storage,
  name: string,
  { begin, take, pause, lost }: LogReader,
): Promise<StoredLog> {
  // Requested at once, and in this order: a collection that is made meanwhile has a manifest.
  const few = Math.ceil(FIRST / segmentSizes(storage).full);
  const requested = later(requestSegmentsAfter(storage, name, 0, few));
  const beside = later(storage.getMany('bodies', [directoryKey(name), lastSegmentKey(name)]));
  const manifest = await readManifest(storage, name);
  if (!manifest) {
    if ((await requested).length > 0) throw manifestLost(name);
    return { manifest, watermarks: [], highest: 0, others: [] };
  }
  const { segments: named, next, watermarks = [] } = manifest;
  if (manifest.dropped) return { manifest, watermarks, highest: next - 1, others: [] };
  const [directory, noted] = await beside;
  const checkpoint = directory as Checkpoint | undefined;
  const last = lastSegmentOf(name, noted);
  const isWhole = isIntact(directoryKey(name), checkpoint);
  await begin?.(manifest, isWhole ? checkpoint : undefined, last);
  const applied = [...watermarks];
  const wanted = new Set(named);
  const seen = new Set<number>();
  const others: number[] = [];
  let highest = next - 1;
  const first = checkSegmentsAfter(storage, name, 0, few, await requested);
  let chunk: Promise<FoundSegment[]> | undefined = first;
  let size = few;
  while (chunk) {
    const segments: FoundSegment[] = await chunk;
    const ahead = (await pause?.()) ? READ_AHEAD_SHARED : READ_AHEAD;
    const end = segments.at(-1);
    chunk =
      end && segments.length === size
        ? later(readSegmentsAfter(storage, name, end.number, ahead))
        : undefined;
    size = ahead;
    for (const { number, intact, problem } of segments) {
      highest = Math.max(highest, number);
      // Below `next` the manifest decides: it does not name replaced segments.
      const isLive = number < next ? wanted.has(number) : !intact?.segment.staged;
      if (!isLive) {
        others.push(number);
        continue;
      }
      if (!intact) throw segmentLost(name, number, problem);
      const { segment, hashes } = intact;
      const { after } = segment;
      if (number >= next && after >= next && !seen.has(after)) throw segmentLost(name, after);
      // The manifest includes the watermarks below `next`.
      if (number >= next) applied.push(...(segment.watermarks ?? []));
      seen.add(number);
      take(segment, hashes);
    }
  }
  for (const number of named) if (!seen.has(number)) throw segmentLost(name, number);
  if (last < 0 && manifest.noted)
    lost?.(manifestLost(name, 'has lost its note of the newest segment, which may be missing'));
  if (last >= next && !seen.has(last)) throw segmentLost(name, last);
  return { manifest, watermarks: applied, highest, others };
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
