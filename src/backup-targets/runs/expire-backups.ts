import { inParallel } from '../calls/in-parallel.ts';
import type { TargetCalls } from '../calls/target-calls.ts';
import type { PartStore } from '../content/part-store.ts';
import type { BackupList, BackupPath } from '../manifest/backup-list.ts';
import { partsOf } from '../manifest/target-manifest.ts';
import { manifestPath, timeOf } from '../manifest/target-paths.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** How many of the newest backups of a device never expire: they remain after a clock jump and a long absence. */
const ALWAYS_KEPT = 2;

/** The codes of manifests that will never be readable. */
const DAMAGED = ['target_damaged', 'target_foreign'];

const codeOf = (error: { readonly code?: string }): string => error.code ?? '';

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
 * Where a backup that stays cannot be read, its parts are unknown: then every part stays. A damaged one expires too.
 *
 * @param days Retention time, -1 for ever.
 */
export async function expireBackups(own: OwnBackups, days: number, now: number): Promise<void> {
  const { calls, list, parts, database, device } = own;
  const paths = await list.paths(device);
  const read = await inParallel(paths, (path) => list.read(path).catch(codeOf));
  const isExpired = ({ name }: BackupPath, at: number): boolean => {
    // A later version may keep it for other reasons; and what cannot be read now is read next time.
    if (typeof read[at] === 'string' && !DAMAGED.includes(read[at])) return false;
    // One from the future stays: the clock was set back.
    return days !== -1 && timeOf(name) + days * DAY_MS <= now;
  };
  const kept = paths.map((path, at) => at < ALWAYS_KEPT || !isExpired(path, at));
  await inParallel(
    paths.filter((_, at) => !kept[at]),
    async (path) => {
      await calls.delete(manifestPath(database, device, path.name));
      list.forget(path);
    },
  );
  const remaining = read.filter((_, at) => kept[at]);
  if (!remaining.every((manifest) => typeof manifest !== 'string')) return;
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
