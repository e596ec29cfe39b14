import type { ClassicLevel } from 'classic-level';
import { driverMissing } from './files-failure.ts';

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

/** Opens the LevelDB of a folder. */
export async function openLevel(folder: string, createIfMissing: boolean): Promise<Level> {
  const ClassicLevel = await loadLevel();
  const level: Level = new ClassicLevel(folder, OPTIONS);
  await level.open({ createIfMissing });
  return level;
}
