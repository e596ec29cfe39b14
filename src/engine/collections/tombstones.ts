import type { Durability, Storage } from '../../storage/drivers/driver.ts';
import { noManifest } from '../../storage/log/manifest.ts';
import { listManifests } from '../../storage/log/open-log.ts';

/**
 * Removes what is left of collections that were dropped so long ago that it is of no use: no page that rests since then
 * is going to hand anything on.
 *
 * @param now Unix milliseconds.
 * @param isUsed Whether somebody has made something of the name since.
 */
export async function sweepTombstones(
  storage: Storage,
  durability: Durability,
  now: number,
  isUsed: (name: string) => boolean,
): Promise<void> {
  const outlived = (await listManifests(storage)).filter(
    ({ name, kept_until: until }) => until !== undefined && until < now && !isUsed(name),
  );
  if (outlived.length === 0) return;
  // A collection that opens under one of the names writes later.
  const removals = outlived.map(({ name }) => noManifest(name));
  await storage.write(removals, durability);
}
