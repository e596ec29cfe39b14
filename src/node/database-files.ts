import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, realpath, rename, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { StorageError } from '../errors/errors.ts';
import { filesDamaged, filesErrorOf, filesForeign, filesNewer } from './files-failure.ts';
import { LevelDatabase } from './level-database.ts';
import { loadLevel, MARKER, takingLock } from './load-level.ts';

/** The format that the marker of a folder names. */
const FORMAT = 1;

/** Where ClassicLevel.repair() puts damaged files. */
const REPAIRED = 'lost';

/**
 * What a folder is. `incomplete`: files of LevelDB without the one that names the others. LevelDB
 * would take it for new, and remove them.
 */
type FolderState = 'new' | 'whole' | 'incomplete';

/** Opens the database in a folder; creates it where there is none. */
export async function openDatabaseFiles(path: string, name: string): Promise<LevelDatabase> {
  try {
    await loadLevel();
    await mkdir(path, { recursive: true });
    // LevelDB knows its locks in this process by path: a link would open the folder twice.
    const folder = await realpath(path);
    const state = await checkFolder(folder);
    if (state === 'new') await writeMarker(folder, name);
    // With the lock, LevelDB tells whether files are lost, or another opener is making them.
    const createIfMissing = state !== 'incomplete';
    return await LevelDatabase.open(folder, createIfMissing);
  } catch (error) {
    throw filesErrorOf(error, 'opening', path);
  }
}

/** Whether a folder has a database; one that cannot be opened rejects as its opening would. */
export async function hasDatabaseFiles(folder: string): Promise<boolean> {
  try {
    return (await checkFolder(folder)) !== 'new';
  } catch (error) {
    throw filesErrorOf(error, 'opening', folder);
  }
}

/**
 * Deletes the database in a folder, and the folder; does nothing if there is none.
 *
 * @throws {StorageError} `database_busy` while another process has it open, `data_foreign`
 */
export async function deleteDatabaseFiles(folder: string, name: string): Promise<void> {
  try {
    const ClassicLevel = await loadLevel();
    if ((await namesIn(folder)) === undefined) return;
    const state = await checkFolder(folder).catch((error: unknown) => {
      // Damaged or newer, it is a database all the same.
      if ((error as StorageError).code === 'data_foreign') throw error;
    });
    const path = await realpath(folder);
    if (state !== 'new') await takingLock(path, () => ClassicLevel.destroy(path));
    for (const left of (await namesIn(folder)) ?? [])
      if (left.startsWith(MARKER) || left === REPAIRED)
        await rm(join(folder, left), { recursive: true, force: true });
    await removeEmpty(folder, name);
  } catch (error) {
    throw filesErrorOf(error, `deleting "${name}"`, folder);
  }
}

/**
 * Whether a folder is a database of this version.
 *
 * @throws {StorageError} `data_foreign`, `data_damaged`, `format_newer`
 */
async function checkFolder(folder: string): Promise<FolderState> {
  const names = (await namesIn(folder)) ?? [];
  const others = names.filter((name) => !name.startsWith(MARKER));
  if (!names.includes(MARKER)) {
    if (others.length > 0)
      throw filesForeign(folder, `${others.slice(0, 3).join(', ')}, and no ${MARKER}`);
    return 'new';
  }
  const format = formatOf(await readFile(join(folder, MARKER), 'utf8'));
  if (format === undefined)
    throw filesDamaged(folder, `${MARKER} cannot be read. If you know the file, write it anew`);
  if (format > FORMAT) throw filesNewer(folder, format);
  return !names.includes('CURRENT') && others.some(hasData) ? 'incomplete' : 'whole';
}

/** Whether LevelDB stores data in a file. The first manifest is written before there is data. */
function hasData(file: string): boolean {
  return /\.(ldb|sst|log)$/.test(file) || (/^MANIFEST-/.test(file) && file !== 'MANIFEST-000001');
}

function formatOf(marker: string): number | undefined {
  try {
    const { format } = JSON.parse(marker);
    return Number.isInteger(format) && format >= 1 ? format : undefined;
  } catch {
    return undefined;
  }
}

async function removeEmpty(folder: string, name: string): Promise<void> {
  try {
    await rmdir(folder);
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === 'ENOENT') return;
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
    // Another process has made a new database here meanwhile.
    await writeMarker(folder, name);
  }
}

/** By a rename: the marker is whole, or missing. Several threads may write it at once. */
async function writeMarker(folder: string, name: string): Promise<void> {
  const written = join(folder, `${MARKER}.${randomUUID()}`);
  const file = await open(written, 'w');
  try {
    await file.writeFile(`${JSON.stringify({ format: FORMAT, name })}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(written, join(folder, MARKER));
}

/** The names in a folder; `undefined` if there is no such folder. */
async function namesIn(folder: string): Promise<string[] | undefined> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return undefined;
    throw error;
  }
}
