import { type Clock, systemClock } from '../../async/clock.ts';
import { PageLocks } from '../../platform/page-locks.ts';
import { readKept, removeKept, writeKept } from '../../platform/page-store.ts';
import type { Locks } from '../../platform/platform.ts';

/** Texts that outlive the page, outside of the database. */
export interface Memory {
  read(key: string): string | undefined;
  write(key: string, value: string): void;
  remove(key: string): void;
}

/** What backups notice of the world, passed in so that tests can drive it. */
export interface BackupEnvironment {
  readonly clock: Clock;
  readonly random: () => number;
  readonly locks: Locks;
  readonly memory: Memory;
}

/** The page, worker or process that this runs in. */
export const pageEnvironment: BackupEnvironment = {
  clock: systemClock,
  random: Math.random,
  // Node has some from version 24 on.
  locks: new PageLocks(),
  memory: pageMemory(),
};

/**
 * The marks outside of the database, and what this page could not write there. What it could is not
 * kept here as well: `destroy()` removes the marks of a database.
 */
function pageMemory(): Memory {
  const texts = new Map<string, string>();
  return {
    read: (key) => readKept(key) ?? texts.get(key),
    write(key, value) {
      writeKept(key, value);
      if (readKept(key) === value) texts.delete(key);
      else {
        removeKept(key); // an older value
        texts.set(key, value);
      }
    },
    remove(key) {
      texts.delete(key);
      removeKept(key);
    },
  };
}

const KEY = 'cairn:device';

/** The names that this page uses: an app may clear `localStorage` while its page lives on. */
const used = new WeakMap<Memory, string>();

/**
 * The name of this device in targets. One that lost its `localStorage` is a new device: its old
 * backups stay.
 */
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
