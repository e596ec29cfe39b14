import type { BackupEnvironment } from './page-environment.ts';

const KEY = 'cairn:device';

/** The name of this device in targets. One that lost its `localStorage` is a new device: its old backups stay. */
export function deviceName({ memory, random }: BackupEnvironment): string {
  const known = memory.read(KEY);
  if (known) return known;
  const letters = () =>
    Math.floor(random() * 36 ** 8)
      .toString(36)
      .padStart(8, '0');
  const made = letters() + letters();
  memory.write(KEY, made);
  return made;
}
