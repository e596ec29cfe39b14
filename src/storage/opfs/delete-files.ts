import { toHex } from '../../codec/exact-json/base64.ts';
import { CairnError, StorageError } from '../../errors/errors.ts';
import { storageFull } from '../drivers/storage-failure.ts';

/** An engine that ends releases its files with its worker. */
const WAIT_MS = 5000;
const PAUSE_MS = 50;

/** The folder of all databases in the origin private file system. */
export const FOLDER = 'cairndb';

/**
 * Deletes the files of a database; does nothing where there are none.
 *
 * @throws {StorageError} `database_busy` while a worker has them open.
 */
export async function deleteFiles(name: string): Promise<void> {
  const all = await folderOfAll();
  if (!all) return;
  const deadline = performance.now() + WAIT_MS;
  const folder = await folderOf(name);
  for (;;) {
    try {
      return await all.removeEntry(folder, { recursive: true });
    } catch (cause) {
      const { name: reason } = cause as { name?: string };
      if (reason === 'NotFoundError') return;
      if (reason !== 'NoModificationAllowedError' && reason !== 'InvalidStateError')
        throw fileErrorOf(cause, 'deleting');
      if (performance.now() > deadline) throw busy(name, cause);
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

/** `undefined` where the browser has no files, or no database is in files. */
async function folderOfAll(): Promise<FileSystemDirectoryHandle | undefined> {
  try {
    const root = await navigator.storage.getDirectory();
    return await root.getDirectoryHandle(FOLDER);
  } catch {
    // Without access, as in private modes and frames, nothing was ever stored there.
    return undefined;
  }
}

function busy(name: string, cause: unknown): StorageError {
  return new StorageError(
    'database_busy',
    `The files of database "${name}" are open elsewhere, in a frozen tab. They do not count any more; the next client with storage: 'opfs' empties them.`,
    { place: name, cause },
  );
}

/**
 * The folder of one database in {@link FOLDER}: its name may have any characters, the name of a
 * folder not.
 */
export async function folderOf(database: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(database));
  return toHex(new Uint8Array(digest));
}

/** The typed error for a failure of a file. */
export function fileErrorOf(cause: unknown, doing: string): StorageError {
  // That of a value which no file can hold, too.
  if (cause instanceof CairnError) return cause as StorageError;
  const { name, message } = (cause ?? {}) as { name?: string; message?: string };
  const said = `The database file failed while ${doing} (${name}: ${message}).`;
  if (name === 'QuotaExceededError' || /no.?space|disk (is )?full/i.test(message ?? ''))
    return storageFull(said, cause);
  return new StorageError('storage_failed', said, { cause });
}

/** No file can be opened here. */
export function filesUnavailable(why: string, cause?: unknown): StorageError {
  return new StorageError('storage_unavailable', `There are no database files here: ${why}.`, {
    cause,
  });
}

export function opfsFileDamaged(what: string): StorageError {
  return new StorageError(
    'data_damaged',
    `The database file is damaged: ${what}. verify() lists the damage and the intact backups, loadBackup() restores one.`,
  );
}
