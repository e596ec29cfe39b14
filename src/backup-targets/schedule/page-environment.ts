import { type Clock, systemClock } from '../../engine/scheduling/clock.ts';
import { enginePlatform } from '../../transport/platform/engine-platform.ts';
import type { Locks } from '../../transport/platform/platform.ts';

/** Texts that outlive the page, outside of the database. */
export interface Memory {
  read(key: string): string | undefined;
  write(key: string, value: string): void;
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
  locks: enginePlatform.locks,
  memory: pageMemory(),
};

/** `localStorage` where a page may use it. Node warns when it is accessed. */
function pageMemory(): Memory {
  const texts = new Map<string, string>();
  const storage = (): Storage | undefined => {
    try {
      return typeof document === 'undefined' ? undefined : localStorage;
    } catch {
      // The user forbids it.
      return undefined;
    }
  };
  return {
    read: (key) => texts.get(key) ?? storage()?.getItem(key) ?? undefined,
    write(key, value) {
      texts.set(key, value);
      try {
        storage()?.setItem(key, value);
      } catch {
        // It is full: then this page alone remembers.
      }
    },
  };
}
