import type { Storage } from '../storage/driver.ts';
import type { Manifest } from '../storage/manifest.ts';
import { listLive, readListed } from '../storage/open-log.ts';
import type { Snapshot } from './snapshot.ts';

/** What a collection takes of the storage, in rough bytes before the browser compresses them. */
export interface CollectionUsage {
  readonly collection: string;
  /** What it holds now. */
  readonly bytes: number;
  /** What stays for the sake of its backups alone. */
  readonly backup_bytes: number;
}

export async function usageOf(
  storage: Storage,
  manifest: Manifest,
  snapshots: readonly Snapshot[],
): Promise<CollectionUsage> {
  const { name: collection, dropped } = manifest;
  const live = dropped ? [] : await listLive(storage, collection, manifest);
  let bytes = 0;
  await readListed(storage, collection, live, ({ size }) => {
    bytes += size;
  });
  const named = new Map<number, number>();
  for (const { segments, sizes } of snapshots) {
    for (const [index, number] of segments.entries()) named.set(number, sizes[index] as number);
  }
  for (const number of live) named.delete(number);
  const backup_bytes = [...named.values()].reduce((sum, size) => sum + size, 0);
  return { collection, bytes, backup_bytes };
}
