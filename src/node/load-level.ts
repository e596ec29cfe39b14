import { type BigIntStats, fstatSync, readdirSync } from 'node:fs';
import { type FileHandle, open, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
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

/** The file that says that a folder is a database of ours; our other files begin with its name. */
export const MARKER = 'cairndb.json';

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
  return takingLock(folder, async () => {
    // It opens by itself in the next turn.
    const level: Level = new ClassicLevel(folder, OPTIONS);
    await level.open({ createIfMissing });
    return level;
  });
}

/**
 * Runs an opening or deletion unless this process has the folder open, in any thread, by any path
 * or copy of this code. LevelDB would refuse it too, but closes the file of the lock then, and
 * POSIX ends the locks of a process with the first file of theirs that it closes: another process
 * could open the folder as well.
 *
 * @param folder Its real path.
 * @throws {StorageError} `database_busy`
 */
export async function takingLock<T>(folder: string, take: () => Promise<T>): Promise<T> {
  // There a lock belongs to the open file.
  if (process.platform === 'win32') return take();
  const path = join(folder, `${MARKER}.${process.pid}`);
  const claim = await claimFolder(folder, path);
  try {
    if (await isOpenHere(join(folder, 'LOCK'))) throw filesLocked(folder);
    return await take();
  } finally {
    // Before it is closed: who finds it finds it open.
    await rm(path, { force: true });
    await claim.close();
  }
}

/** Makes the file by which one thread of this process at a time takes the lock of a folder. */
async function claimFolder(folder: string, path: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx');
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error;
    if (await isOpenHere(path)) throw filesLocked(folder);
    // A thread, or a process of this number, has ended meanwhile.
    await rm(path, { force: true });
    return claimFolder(folder, path);
  }
}

/** Whether a thread of this process has a file open. */
async function isOpenHere(path: string): Promise<boolean> {
  const file = await statOf(path);
  if (!file) return false;
  const isIt = (descriptor: string | number): boolean => {
    try {
      const { dev, ino } = fstatSync(Number(descriptor), { bigint: true });
      return dev === file.dev && ino === file.ino;
    } catch {
      // It was closed since it was listed.
      return false;
    }
  };
  return descriptors().some(isIt);
}

/** Numbers of open files: those of this process, or what most have where systems list none. */
function descriptors(): readonly (string | number)[] {
  try {
    return readdirSync('/dev/fd');
  } catch {
    return Array.from({ length: 1024 }, (_, descriptor) => descriptor);
  }
}

async function statOf(path: string): Promise<BigIntStats | undefined> {
  try {
    return await stat(path, { bigint: true });
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return undefined;
    throw error;
  }
}
