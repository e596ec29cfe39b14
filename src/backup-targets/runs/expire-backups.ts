import { inParallel } from '../calls/in-parallel.ts';
import type { TargetCalls } from '../calls/target-calls.ts';
import type { PartStore } from '../content/part-store.ts';
import type { BackupList } from '../manifest/backup-list.ts';
import { partsOf } from '../manifest/target-manifest.ts';
import { manifestPath } from '../manifest/target-paths.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** How many of the newest backups of a device never expire: they remain after a clock jump and a long absence. */
const ALWAYS_KEPT = 2;

/** The backups of one device in a target. */
export interface OwnBackups {
  readonly calls: TargetCalls;
  readonly list: BackupList;
  readonly parts: PartStore;
  readonly database: string;
  readonly device: string;
}

/**
 * Removes the expired backups of this device, then its parts that no backup names. Those of other devices stay. The
 * caller holds the lock of the device, so none of its parts is waiting for a manifest.
 *
 * Where a backup cannot be read, its parts are unknown: then every part stays.
 *
 * @param days Retention time, -1 for ever.
 */
export async function expireBackups(own: OwnBackups, days: number, now: number): Promise<void> {
  const { calls, list, parts, database, device } = own;
  const paths = await list.paths(device);
  const read = await inParallel(paths, (path) => list.read(path).catch(() => undefined));
  const isExpired = (at: number): boolean => {
    const created_at = read[at]?.created_at;
    // One from the future stays: the clock was set back.
    return created_at !== undefined && days !== -1 && created_at + days * DAY_MS <= now;
  };
  const kept = paths.map((_, at) => at < ALWAYS_KEPT || !isExpired(at));
  await inParallel(
    paths.filter((_, at) => !kept[at]),
    async (path) => {
      await calls.delete(manifestPath(database, device, path.name));
      list.forget(path);
    },
  );
  const remaining = read.filter((_, at) => kept[at]);
  if (!remaining.every((manifest) => manifest !== undefined)) return;
  const named = new Set(remaining.flatMap(partsOf).map(([hash]) => hash));
  const unused = [...(await parts.list())].filter((hash) => !named.has(hash));
  await inParallel(unused, (hash) => parts.delete(hash));
}

/** Removes all that a device has in a target: its backups first, so that none is left without its parts. */
export async function removeDevice({
  calls,
  list,
  parts,
  database,
  device,
}: OwnBackups): Promise<void> {
  await inParallel(await list.paths(device), async (path) => {
    await calls.delete(manifestPath(database, device, path.name));
    list.forget(path);
  });
  await inParallel([...(await parts.list())], (hash) => parts.delete(hash));
}
