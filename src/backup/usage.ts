import { StorageError } from '../errors/errors.ts';
import type { Storage } from '../storage/drivers/driver.ts';
import { listLive } from '../storage/log/list-logs.ts';
import type { Manifest } from '../storage/log/manifest.ts';
import { readListed } from '../storage/segments/read-segments.ts';
import { bytesOf } from '../storage/segments/segment.ts';
import { readSegment } from '../storage/segments/stored-segment.ts';
import type { Snapshot } from './snapshot.ts';
import { LiveRecords } from './snapshot-reader.ts';

/**
 * Storage that a collection uses, in rough bytes before the browser compresses them, Blobs
 * included.
 */
export interface CollectionUsage {
  readonly collection: string;
  readonly type: 'DOCUMENT_BASED' | 'KEY_VALUE_BASED';
  /** The live data. */
  readonly bytes: number;
  /** Data that only backups refer to. */
  readonly backup_bytes: number;
  /**
   * When its cache is cleared unless it is used before then. `undefined` without a cache: the
   * collection is not open, has no `caching`, or its cache was cleared.
   */
  readonly cached_until: Date | 'never' | undefined;
}

type LiveSizes = ReadonlyMap<number, { readonly bytes: number }>;

/** Segments read in one request. */
const AT_ONCE = 100;

export function usageOf(
  collection: string,
  live: LiveSizes,
  snapshots: readonly Snapshot[],
): Pick<CollectionUsage, 'collection' | 'bytes' | 'backup_bytes'> {
  let bytes = 0;
  for (const segment of live.values()) bytes += segment.bytes;
  let backup_bytes = 0;
  const counted = new Set(live.keys());
  for (const { segments, sizes } of snapshots) {
    for (const [index, number] of segments.entries()) {
      if (counted.has(number)) continue;
      counted.add(number);
      backup_bytes += sizes[index] as number;
    }
  }
  return { collection, bytes, backup_bytes };
}

/** The sizes of a closed collection; segments that are missing or damaged count nothing. */
export async function storedSizes(storage: Storage, manifest: Manifest): Promise<LiveSizes> {
  const sizes = new Map<number, { bytes: number }>();
  if (manifest.dropped) return sizes;
  const live = await listLive(storage, manifest.name, manifest);
  for (let from = 0; from < live.length; from += AT_ONCE) {
    const keys = live.slice(from, from + AT_ONCE).map((number) => [manifest.name, number]);
    const values = await storage.getMany('segments', keys);
    for (const [index, value] of values.entries()) {
      const number = live[from + index] as number;
      const found = readSegment(manifest.name, number, value);
      if (found) sizes.set(number, { bytes: bytesOf(found.segment) });
    }
  }
  return sizes;
}

/** A stored collection, opened or not. */
export interface CollectionInfo extends Pick<CollectionUsage, 'type' | 'bytes' | 'backup_bytes'> {
  readonly name: string;
  /**
   * Documents, archived ones included, or keys of a key-value collection. `undefined` where its
   * data is damaged: open it, and `verify()` says what is left.
   */
  readonly documents: number | undefined;
  /** How many backups it has. A dropped collection that left a backup has no documents. */
  readonly backups: number;
  /** Whether a handle has it open, here or in another tab. */
  readonly open: boolean;
}

/** The number of live records of a collection that is not open; `undefined` where it is damaged. */
export async function countStored(
  storage: Storage,
  manifest: Manifest | undefined,
): Promise<number | undefined> {
  if (!manifest || manifest.dropped) return 0;
  const { name } = manifest;
  try {
    const live = await listLive(storage, name, manifest);
    const found = await LiveRecords.find(
      (numbers, take) => readListed(storage, name, numbers, take),
      live,
    );
    return found.count;
  } catch (error) {
    if (error instanceof StorageError && error.code === 'data_damaged') return undefined;
    throw error;
  }
}
