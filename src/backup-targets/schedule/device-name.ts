import type { BackupEnvironment } from './page-environment.ts';

const KEY = 'cairn:device';

/** The name of this device in targets. One that lost its `localStorage` is a new device: its old backups stay. */
export function deviceName({ memory, random }: BackupEnvironment): string {
  const name = memory.read(KEY) || newName(random);
  // A known one too: an app may clear `localStorage` while its page lives on.
  memory.write(KEY, name);
  return name;
}

function newName(random: () => number): string {
  const letters = () =>
    Math.floor(random() * 36 ** 8)
      .toString(36)
      .padStart(8, '0');
  return letters() + letters();
}
