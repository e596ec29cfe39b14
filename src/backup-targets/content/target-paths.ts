import { sha256 } from './sha256.ts';

/**
 * Paths in a target:
 *
 *     <database>/backups/<device>/<name>.json   the manifest of a backup, written last
 *     <database>/parts/<device>/<sha256>        a part
 *     <database>/notes/<device>/<name>.json     what a device has noted about its objects
 *
 * Each device writes under its own name only, so that two never delete or replace each other's
 * objects.
 */
export const backupsPrefix = (database: string, device = ''): string =>
  device === '' ? `${database}/backups/` : `${database}/backups/${device}/`;

export const partsPrefix = (database: string, device: string): string =>
  `${database}/parts/${device}/`;

export const partPath = (database: string, device: string, hash: string): string =>
  `${partsPrefix(database, device)}${hash}`;

export const manifestPath = (database: string, device: string, name: string): string =>
  `${backupsPrefix(database, device)}${name}.json`;

export const notesPrefix = (database: string, device: string): string =>
  `${database}/notes/${device}/`;

/** Names of devices in paths. */
export const DEVICE = /^[a-z0-9_-]{1,40}$/;

const MANIFEST =
  /^[0-9a-f]+\/backups\/([a-z0-9_-]{1,40})\/(\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d_[a-z0-9]+)\.json$/;

/** The device and name of a manifest's path; `undefined` for files of others. */
export function parseManifestPath(path: string): { device: string; name: string } | undefined {
  const [, device, name] = MANIFEST.exec(path) ?? [];
  if (device === undefined || name === undefined || Number.isNaN(timeOf(name))) return undefined;
  return { device, name };
}

/** The last second that a name can have: later ones have years of more digits. */
const LAST_TIME = Date.UTC(9999, 11, 31, 23, 59, 59);

/**
 * A name that sorts behind those of earlier backups, whatever the clocks say: the time of creation
 * where that is later, else the second after theirs. Random letters tell devices apart.
 *
 * @param last The last name so far.
 */
export function newBackupName(at: number, random: () => number, last?: string): string {
  const after = last === undefined ? 0 : timeOf(last) + 1000;
  const [date, time] = new Date(Math.min(Math.max(at, after), LAST_TIME))
    .toISOString()
    .split(/[T.]/) as [string, string];
  const letters = Math.floor(random() * 36 ** 6).toString(36);
  // Behind the last second of all, only a longer name sorts later.
  const begin = after > LAST_TIME ? `${last}` : `${date}_${time.replaceAll(':', '-')}_`;
  return begin + letters.padStart(6, '0');
}

/** The time in a name, to the second; NaN if it has none. */
export function timeOf(name: string): number {
  const [date = '', time = ''] = name.split('_');
  return Date.parse(`${date}T${time.replaceAll('-', ':')}Z`);
}

/** The key of a database in paths, which do not show its name. */
export async function databaseKey(name: string): Promise<string> {
  return (await sha256(`cairn ${name}`)).slice(0, 16);
}
