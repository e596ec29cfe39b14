import { createHash, randomUUID } from 'node:crypto';
import {
  mkdir,
  open,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
} from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OptionError, type StorageError } from '../errors/errors.ts';
import { databaseDestroyed } from '../storage/drivers/database-id.ts';
import type { Storage, StorageDriver, StorageEvents } from '../storage/drivers/driver.ts';
import { SharedOpenings } from '../storage/drivers/shared-database.ts';
import { filesDamaged, filesErrorOf, filesForeign, filesNewer } from './files-failure.ts';
import { LevelDatabase } from './level-database.ts';
import { loadLevel, MARKER, takingLock } from './load-level.ts';

/** The databases of one directory. */
class FilesDriver implements StorageDriver {
  readonly kind = 'files';
  readonly #directory: string;
  readonly #openings = new SharedOpenings<LevelDatabase>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  open(name: string, events: StorageEvents): Promise<Storage> {
    return this.#openings.opened(name, events, () => openDatabaseFiles(this.#folderOf(name), name));
  }

  has(name: string): Promise<boolean> {
    return this.#openings.alone(name, () => hasDatabaseFiles(this.#folderOf(name)));
  }

  delete(name: string): Promise<void> {
    return this.#openings.delete(name, databaseDestroyed(name), () =>
      deleteDatabaseFiles(this.#folderOf(name), name),
    );
  }

  #folderOf(name: string): string {
    return join(this.#directory, folderNameOf(name));
  }
}

/** File systems take 255 bytes. */
const LONGEST = 120;
const KEPT = 40;

/** Names of devices on Windows. */
const RESERVED = /^(con|prn|aux|nul|com\d|lpt\d)$/;

/**
 * The name of the folder of a database. Different names have different folders everywhere: on file
 * systems that ignore case or normalise Unicode, too.
 *
 * | Name | Folder |
 * |---|---|
 * | `shop-2` | `shop-2` |
 * | `Shop` | `%53hop` |
 * | `\\ud800` alone | `%ud800` |
 * | 128 times `Ä` | `%c3%84…~` and a SHA-256 |
 */
export function folderNameOf(database: string): string {
  if (database === '') return '%';
  let name = '';
  for (const sign of database) name += /^[a-z0-9_-]$/.test(sign) ? sign : coded(sign);
  if (RESERVED.test(name)) return hex(name.charCodeAt(0)) + name.slice(1);
  if (name.length <= LONGEST) return name;
  const digest = createHash('sha256').update(name).digest('hex');
  return `${name.slice(0, KEPT)}~${digest}`;
}

/** UTF-8 has no half of a surrogate pair, and would make one name of all. */
function coded(sign: string): string {
  if (/^[\ud800-\udfff]$/.test(sign)) return `%u${sign.charCodeAt(0).toString(16)}`;
  return Array.from(new TextEncoder().encode(sign), hex).join('');
}

function hex(byte: number): string {
  return `%${byte.toString(16).padStart(2, '0')}`;
}

/** Clients with one driver share an engine, so there is one for each directory. */
const drivers = new Map<string, StorageDriver>();

/**
 * Storage in files, for Node, Electron, Bun and Deno: each database is a LevelDB in a folder of its
 * own. Needs the package `classic-level`.
 *
 * A database belongs to one thread of one process at a time; all its clients there share it.
 * Opening it rejects with
 *
 * - `database_busy` while another process or worker thread has it open,
 * - `directory_unusable` where nothing can be stored in the directory,
 * - `driver_missing` without `classic-level`,
 * - `data_foreign`, `data_damaged`, `format_newer` where its folder has other, damaged or newer
 *   files: they stay as they are.
 *
 * @param directory The directory of all databases, as a path or a `file:` URL; made when it is
 *   missing. A relative path counts from the working directory of now.
 * @returns the same driver for the same directory.
 * @throws {OptionError} `option_invalid` for anything else.
 *
 * @example
 * ```ts
 * const db = new Database({ name: 'shop', storage: files('./data') });
 * ```
 */
export function files(directory: string | URL): StorageDriver {
  const path = resolve(pathOf(directory));
  const driver = drivers.get(path) ?? new FilesDriver(path);
  drivers.set(path, driver);
  return driver;
}

function pathOf(directory: unknown): string {
  if (typeof directory === 'string' && directory !== '' && !directory.includes('\0'))
    return directory;
  if (directory instanceof URL && directory.protocol === 'file:') return fileURLToPath(directory);
  throw new OptionError(
    'option_invalid',
    `files(directory) takes the path of a directory, or its file: URL, not ${describe(directory)}.`,
    { place: 'directory' },
  );
}

function describe(value: unknown): string {
  return typeof value === 'string' || value instanceof URL
    ? JSON.stringify(value)
    : value === null
      ? 'null'
      : `a value of type ${typeof value}`;
}

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
async function openDatabaseFiles(path: string, name: string): Promise<LevelDatabase> {
  try {
    await loadLevel();
    await makeFolder(path);
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

/**
 * Makes a folder and those above it. The option `recursive` of Node never ends where a file system
 * answers ENOENT below a folder that exists, such as /proc.
 */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if (await isFolder(path)) return;
    const parent = dirname(path);
    const { code } = error as { code?: string };
    if (code !== 'ENOENT' || parent === path || (await isFolder(parent))) throw error;
    await makeFolder(parent);
    await makeFolder(path);
  }
}

function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** Whether a folder has a database; one that cannot be opened rejects as its opening would. */
async function hasDatabaseFiles(folder: string): Promise<boolean> {
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
async function deleteDatabaseFiles(folder: string, name: string): Promise<void> {
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
