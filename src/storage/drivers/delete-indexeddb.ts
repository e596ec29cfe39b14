import { deleteDB } from 'idb';
import { StorageError } from '../../errors/storage-error.ts';
import { withDeadline } from './deadline.ts';
import { databaseName } from './indexeddb-connection.ts';
import { storageErrorOf } from './storage-failure.ts';

/** Time for other connections to close: those of Cairn do at once. A deletion cannot be withdrawn. */
const DELETE_DEADLINE_MS = 5000;

/**
 * Deletes a database of IndexedDB.
 *
 * @throws {StorageError} `database_busy` while another connection stays open.
 */
export async function deleteIndexedDb(name: string): Promise<void> {
  try {
    // In a page without an origin of its own it throws synchronously.
    const deleting = (async () => deleteDB(databaseName(name)))();
    await withDeadline(deleting, DELETE_DEADLINE_MS, () => busy(name));
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
