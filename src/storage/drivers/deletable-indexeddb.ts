import { deleteDB } from 'idb';
import { StorageError } from '../../errors/errors.ts';
import type { StorageDriver } from './driver.ts';
import { databaseName } from './indexeddb-connection.ts';
import { indexedDbDriver } from './indexeddb-driver.ts';
import { storageErrorOf } from './storage-failure.ts';

/** The driver of a page; an engine deletes nothing, and its worker does without this code. */
export function deletableIndexedDb(): StorageDriver {
  return { ...indexedDbDriver(), delete: deleteIndexedDb };
}

/**
 * Time for other connections to close, once the browser says that they are open: those of Cairn do
 * at once.
 */
const BLOCKED_MS = 5000;

/**
 * Time for all else: the browser asks every connection first, and one in a frozen tab does not
 * answer.
 */
const DELETE_DEADLINE_MS = 20_000;

/**
 * Deletes a database of IndexedDB. A deletion cannot be withdrawn.
 *
 * @throws {StorageError} `database_busy` while another connection stays open.
 */
async function deleteIndexedDb(name: string): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      const late = () => reject(busy(name));
      let timer = setTimeout(late, DELETE_DEADLINE_MS);
      const blocked = () => {
        clearTimeout(timer);
        timer = setTimeout(late, BLOCKED_MS);
      };
      // In a page without an origin of its own it throws synchronously.
      const deleting = (async () => deleteDB(databaseName(name), { blocked }))();
      deleting.then(resolve, reject).finally(() => clearTimeout(timer));
    });
  } catch (error) {
    throw storageErrorOf(error, 'deleting');
  }
}

function busy(name: string): StorageError {
  return new StorageError(
    'database_busy',
    `The IndexedDB database "${databaseName(name)}" is open elsewhere, so the browser deletes it once that is closed: ` +
      'in a frozen tab, or by code of this site that does not listen to versionchange. Until then nothing can open it.',
    { place: name },
  );
}
