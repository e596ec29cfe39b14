import { type Clock, systemClock } from '../../engine/scheduling/clock.ts';
import { PageLocks } from '../../transport/platform/page-locks.ts';
import { keep, readKept, removeKept } from '../../transport/platform/page-store.ts';
import type { Locks } from '../../transport/platform/platform.ts';

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
 * The marks outside of the database, and what this page could not write there. What it could is not kept here as well:
 * `destroy()` removes the marks of a database.
 */
function pageMemory(): Memory {
  const texts = new Map<string, string>();
  return {
    read: (key) => readKept(key) ?? texts.get(key),
    write(key, value) {
      keep(key, value);
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
