import { StorageError } from '../errors/storage-error.ts';
import type { Storage } from '../storage/drivers/driver.ts';
import type { Manifest } from '../storage/log/manifest.ts';
import { listLive } from '../storage/log/open-log.ts';
import { readListed } from '../storage/segments/read-segments.ts';
import { LiveRecords } from './live-records.ts';
import type { CollectionUsage } from './usage.ts';

/** A stored collection, opened or not. */
export interface CollectionInfo extends Pick<CollectionUsage, 'type' | 'bytes' | 'backup_bytes'> {
  readonly name: string;
  /**
   * Documents, archived ones included, or keys of a key-value collection. `undefined` where its data is damaged: open it,
   * and `verify()` says what is left.
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
