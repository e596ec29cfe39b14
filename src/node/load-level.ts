import type { ClassicLevel } from 'classic-level';
import { driverMissing, filesLocked } from './files-failure.ts';

/** A LevelDB with keys and values of bytes. */
export type Level = ClassicLevel<Uint8Array, Uint8Array>;

/** Loads the optional package. @throws {StorageError} `driver_missing` */
export async function loadLevel(): Promise<typeof ClassicLevel> {
  try {
    return (await import('classic-level')).ClassicLevel;
  } catch (cause) {
    throw driverMissing(cause);
  }
}

/**
 * Compression, which is on: a third of the bytes, at a third of the speed of reading what the
 * system has in memory. Files of 16 MB instead of 2: segments have up to 256 kB. Its log stays at 4
 * MB, as opening reads it.
 */
const OPTIONS = {
  keyEncoding: 'view',
  valueEncoding: 'view',
  maxFileSize: 16 * 1024 * 1024,
} as const;

/** The folders that are open in this thread. */
const opened = new Set<string>();

/**
 * An opening or deletion that LevelDB itself refuses in this process closes the file of the lock,
 * and so gives the lock away to other processes.
 *
 * @throws {StorageError} `database_busy`
 */
export function checkUnopened(folder: string): void {
  if (opened.has(folder)) throw filesLocked(folder);
}

/** Opens the LevelDB of a folder. */
export async function openLevel(folder: string, createIfMissing: boolean): Promise<Level> {
  const ClassicLevel = await loadLevel();
  checkUnopened(folder);
  const level: Level = new ClassicLevel(folder, OPTIONS);
  opened.add(folder);
  level.once('closed', () => opened.delete(folder));
  try {
    await level.open({ createIfMissing });
  } catch (error) {
    opened.delete(folder);
    throw error;
  }
  return level;
}
