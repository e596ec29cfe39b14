import type { Storage } from '../storage/drivers/driver.ts';
import type { Manifest } from '../storage/log/manifest.ts';
import { listLive } from '../storage/log/open-log.ts';
import type { Segment } from '../storage/segments/segment.ts';
import type { Snapshot } from './snapshot.ts';

/** What a collection takes. Bytes are those of the storage, rough, before the browser compresses them. */
export interface CollectionUsage {
  readonly collection: string;
  /** What it holds now. */
  readonly bytes: number;
  /** What stays for the sake of its backups alone. */
  readonly backup_bytes: number;
  /**
   * When what it has in memory is dropped, if nobody asks it for anything until then; `undefined` where it has
   * nothing there: it is not open, has no `caching`, or was dropped from memory already.
   */
  readonly cached_until: Date | 'never' | undefined;
}

/** The sizes of live segments, by their number. */
export type LiveSizes = ReadonlyMap<number, { readonly size: number }>;

/** Segments read in one request. */
const AT_ONCE = 100;

export function usageOf(
  collection: string,
  live: LiveSizes,
  snapshots: readonly Snapshot[],
): Omit<CollectionUsage, 'cached_until'> {
  let bytes = 0;
  for (const { size } of live.values()) bytes += size;
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

/**
 * The sizes of a collection that is not open. What is missing counts for nothing: somebody may be opening and
 * compacting it at this moment, and whether it is whole is not asked here.
 */
export async function storedSizes(storage: Storage, manifest: Manifest): Promise<LiveSizes> {
  const sizes = new Map<number, { size: number }>();
  if (manifest.dropped) return sizes;
  const live = await listLive(storage, manifest.name, manifest);
  for (let from = 0; from < live.length; from += AT_ONCE) {
    const keys = live.slice(from, from + AT_ONCE).map((number) => [manifest.name, number]);
    const segments = (await storage.getMany('segments', keys)) as (Segment | undefined)[];
    for (const segment of segments) if (segment) sizes.set(segment.number, { size: segment.size });
  }
  return sizes;
}
