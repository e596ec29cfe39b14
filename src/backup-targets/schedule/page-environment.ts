import { type Clock, systemClock } from '../../engine/scheduling/clock.ts';
import { ThreadLocks } from '../../transport/leadership/thread-locks.ts';
import type { Locks } from '../../transport/platform/platform.ts';
import { readMark, removeMark, writeMark } from '../../transport/unload/kept-marks.ts';

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
  // Node has them from version 24 on.
  locks: globalThis.navigator?.locks ?? new ThreadLocks(),
  memory: pageMemory(),
};

/**
 * The marks outside of the database, and what this page could not write there. What it could is not kept here as well:
 * `destroy()` removes the marks of a database.
 */
function pageMemory(): Memory {
  const texts = new Map<string, string>();
  return {
    read: (key) => readMark(key) ?? texts.get(key),
    write(key, value) {
      writeMark(key, value);
      if (readMark(key) === value) texts.delete(key);
      else {
        removeMark(key); // an older value
        texts.set(key, value);
      }
    },
    remove(key) {
      texts.delete(key);
      removeMark(key);
    },
  };
}
