import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OptionError } from '../errors/errors.ts';
import { databaseDestroyed } from '../storage/drivers/database-id.ts';
import type { Storage, StorageDriver, StorageEvents } from '../storage/drivers/driver.ts';
import { SharedOpenings } from '../storage/drivers/shared-database.ts';
import { deleteDatabaseFiles, hasDatabaseFiles, openDatabaseFiles } from './database-files.ts';
import type { LevelDatabase } from './level-database.ts';

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
