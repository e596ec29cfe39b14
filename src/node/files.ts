import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OptionError } from '../errors/option-error.ts';
import type { StorageDriver } from '../storage/drivers/driver.ts';
import { FilesDriver } from './files-driver.ts';

/** Clients with one driver share an engine, so there is one for each directory. */
const drivers = new Map<string, StorageDriver>();

/**
 * Storage in files, for Node, Electron, Bun and Deno: each database is a LevelDB in a folder of its own. Needs the package
 * `classic-level`.
 *
 * A database belongs to one process at a time; all its clients in that process share it. Opening it rejects with
 *
 * - `database_busy` while another process has it open,
 * - `directory_unusable` where nothing can be stored in the directory,
 * - `driver_missing` without `classic-level`,
 * - `data_foreign`, `data_damaged`, `format_newer` where its folder has other, damaged or newer files: they stay as they are.
 *
 * @param directory The directory of all databases, as a path or a `file:` URL; made when it is missing. A relative path
 *   counts from the working directory of now.
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
