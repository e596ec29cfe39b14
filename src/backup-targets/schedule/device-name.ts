import type { BackupEnvironment, Memory } from './page-environment.ts';

const KEY = 'cairn:device';

/** The names that this page uses: an app may clear `localStorage` while its page lives on. */
const used = new WeakMap<Memory, string>();

/** The name of this device in targets. One that lost its `localStorage` is a new device: its old backups stay. */
export function deviceName({ memory, random }: BackupEnvironment): string {
  const name = memory.read(KEY) || used.get(memory) || newName(random);
  used.set(memory, name);
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
