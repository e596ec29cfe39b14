import { sha256 } from '../content/sha256.ts';

/**
 * Paths in a target:
 *
 *     <database>/backups/<device>/<name>.json   the manifest of a backup, written last
 *     <database>/parts/<device>/<sha256>        a part
 *
 * Each device writes under its own name only, so that two never delete or replace each other's objects.
 */
export const backupsPrefix = (database: string, device = ''): string =>
  device === '' ? `${database}/backups/` : `${database}/backups/${device}/`;

export const partsPrefix = (database: string, device: string): string =>
  `${database}/parts/${device}/`;

export const partPath = (database: string, device: string, hash: string): string =>
  `${partsPrefix(database, device)}${hash}`;

export const manifestPath = (database: string, device: string, name: string): string =>
  `${backupsPrefix(database, device)}${name}.json`;

/** Names of devices in paths. */
export const DEVICE = /^[a-z0-9_-]{1,40}$/;

const MANIFEST =
  /^[0-9a-f]+\/backups\/([a-z0-9_-]{1,40})\/(\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d_[a-z0-9]+)\.json$/;

/** The device and name of a manifest's path; `undefined` for other files, which people and programs leave in folders. */
export function parseManifestPath(path: string): { device: string; name: string } | undefined {
  const [, device, name] = MANIFEST.exec(path) ?? [];
  return device === undefined || name === undefined ? undefined : { device, name };
}

/** The time of creation, unique by random letters: clocks may be set back. */
export function newBackupName(at: number, random: () => number): string {
  const [date, time] = new Date(at).toISOString().split(/[T.]/) as [string, string];
  const letters = Math.floor(random() * 36 ** 6).toString(36);
  return `${date}_${time.replaceAll(':', '-')}_${letters.padStart(6, '0')}`;
}

/** The key of a database in paths, which do not show its name. */
export async function databaseKey(name: string): Promise<string> {
  return (await sha256(`cairn ${name}`)).slice(0, 16);
}
