import type { Durability, Storage, StorageOperation } from '../../storage/drivers/driver.ts';
import { noManifest } from '../../storage/log/manifest.ts';
import { listManifests } from '../../storage/log/open-log.ts';

/**
 * Removes the manifests of collections that were dropped so long ago that no page frozen since then will replay a
 * change to them.
 *
 * @param now Unix milliseconds.
 * @param isUsed Whether a collection of the name was constructed since.
 */
export async function sweepTombstones(
  storage: Storage,
  durability: Durability,
  now: number,
  isUsed: (name: string) => boolean,
): Promise<void> {
  // A damaged one is no tombstone for sure.
  const outlived = (await listManifests(storage, () => undefined)).filter(
    ({ name, kept_until: until }) => until !== undefined && until < now && !isUsed(name),
  );
  if (outlived.length === 0) return;
  // A collection that opens under one of the names writes later.
  const removals = outlived.flatMap(({ name }): StorageOperation[] => [
    noManifest(name),
    // A copy that was never completed, of a collection to be renamed.
    { type: 'deletePrefix', store: 'segments', prefix: [name] },
    { type: 'deletePrefix', store: 'bodies', prefix: [name] },
  ]);
  await storage.write(removals, durability);
}
