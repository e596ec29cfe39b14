import { inParallel } from '../calls/target-calls.ts';
import { type BackupPath, isFileOfBackup } from '../content/backup-list.ts';
import { partsOf, type TargetManifest } from '../content/target-manifest.ts';
import type { StoredNote } from '../content/target-notes.ts';
import { manifestPath } from '../content/target-paths.ts';
import type { OwnBackups } from './upload.ts';

const HOUR_MS = 60 * 60 * 1000;

const DAY_MS = 24 * HOUR_MS;

/**
 * How many of the newest backups of a device that can be read never expire: they remain after a
 * clock jump and a long absence.
 */
const ALWAYS_KEPT = 2;

/**
 * Between the first time that something was found unused and its removal: longer than lists lag.
 */
const GRACE_MS = DAY_MS;

/** A note without any use, whatever it says. */
const FORGOTTEN_MS = 2 * GRACE_MS;

export interface BackupExpiry {
  /** Retention time, -1 for ever. */
  readonly days: number;
  readonly now: number;
  readonly random: () => number;
}

interface Listed {
  readonly path: string;
  readonly at: BackupPath;
  /** Undefined where it cannot be read. */
  readonly manifest: TargetManifest | undefined;
  readonly isExpired: boolean;
}

/**
 * Removes the expired backups of this device and its parts that no backup names, once they were
 * found unused a day ago and are still. Those of other devices stay. The caller holds the lock of
 * the device, so none of its parts is waiting for a manifest.
 *
 * No list is believed alone: where one lacks a backup that exists, nothing is removed, and a part
 * stays that any known backup names. Where a backup cannot be read, its parts are unknown: then
 * every part stays.
 */
export async function expireBackups(own: OwnBackups, expiry: BackupExpiry): Promise<void> {
  const { calls, list, parts, notes, device } = own;
  const { now, random } = expiry;
  const paths = await list.paths(device);
  if (list.lacksAny(paths, device)) return;
  const listed = await readAll(own, paths, expiry);
  const stored = await parts.list();
  const found = await notes.read();
  const due = new Set(found.flatMap((note) => (isDue(note, now) ? note.unused : [])));

  const gone = listed.filter(({ path, isExpired }) => isExpired && due.has(path));
  const remaining = listed.filter((backup) => !gone.includes(backup));
  const isKnown = remaining.every(({ manifest }) => manifest !== undefined);
  const unlisted = list.known(device).filter((it) => !listed.some((each) => each.manifest === it));
  const unnamedBy = (backups: readonly Listed[]): string[] => {
    const manifests = [...unlisted, ...backups.flatMap(({ manifest }) => manifest ?? [])];
    const named = new Set(manifests.flatMap(partsOf).map(([hash]) => parts.path(hash)));
    return isKnown ? [...stored].filter((path) => !named.has(path)) : [];
  };
  const goneParts = unnamedBy(remaining).filter((path) => due.has(path));
  await inParallel(gone, async ({ path, at }) => {
    await calls.delete(path);
    list.forget(at);
  });
  await inParallel(goneParts, (path) => calls.delete(path));

  const expired = remaining.filter(({ isExpired }) => isExpired);
  const unused = [
    ...expired.map(({ path }) => path),
    ...unnamedBy(remaining.filter(({ isExpired }) => !isExpired)),
  ];
  const known = new Set(found.flatMap((note) => note.unused));
  const fresh = unused.filter((path) => !known.has(path));
  const isTime = found.every(
    (note) => note.unused.length === 0 || Math.abs(now - note.created_at) >= HOUR_MS,
  );
  if (fresh.length > 0 && isTime)
    await notes.add({ created_at: Math.max(now, 0), unused: fresh, damaged: [] }, random);
  const over = found.filter((note) => note.unused.length > 0 && isForgotten(note, now));
  for (const { path } of over) await notes.remove(path);
}

/** The backups of this device that are listed, with what they name. */
async function readAll(
  { list, database, device }: OwnBackups,
  paths: readonly BackupPath[],
  expiry: BackupExpiry,
): Promise<Listed[]> {
  const read = await inParallel(paths, async (at) => {
    const manifest = await list.tryRead(at);
    return { at, manifest: isFileOfBackup(manifest) ? undefined : manifest };
  });
  const newest = read.filter(({ manifest }) => manifest).slice(0, ALWAYS_KEPT);
  return read.map((backup) => ({
    ...backup,
    path: manifestPath(database, device, backup.at.name),
    isExpired: !newest.includes(backup) && isExpired(backup.manifest, expiry),
  }));
}

/** One that cannot be read stays, and so does one from the future: the clock was set back. */
function isExpired(manifest: TargetManifest | undefined, { days, now }: BackupExpiry): boolean {
  return manifest !== undefined && days !== -1 && manifest.created_at + days * DAY_MS <= now;
}

/** Whether its grace period is over. One that another tab has removed says nothing. */
function isDue({ created_at, isListed }: StoredNote, now: number): boolean {
  return isListed && created_at + GRACE_MS <= now;
}

/** One from the future would be due at once when the clock is there again. */
function isForgotten({ created_at }: StoredNote, now: number): boolean {
  return created_at > now || created_at + FORGOTTEN_MS <= now;
}

/** Removes all that a device has in a target, its backups before their parts. */
export async function removeDevice({
  calls,
  list,
  parts,
  notes,
  database,
  device,
}: OwnBackups): Promise<void> {
  await inParallel(await list.paths(device), async (path) => {
    await calls.delete(manifestPath(database, device, path.name));
    list.forget(path);
  });
  await inParallel([...(await parts.list())], (path) => calls.delete(path));
  await inParallel(await notes.paths(), (path) => notes.remove(path));
}
