import { openDB } from 'idb';
import type { StorageKey, StoreName } from '../storage/drivers/driver.ts';
import { ENCRYPTION_KEY } from '../storage/drivers/encryption-key.ts';
import { databaseName } from '../storage/drivers/indexeddb-connection.ts';
import { type KeyRecord, readKeyRecord } from '../storage/encryption/key-record.ts';
import { COPY_KEY } from '../storage/encryption/open-encrypted.ts';

/** The key record of a database, as pages find it; `undefined` where there is none. */
export async function storedRecord(name: string): Promise<KeyRecord | undefined> {
  return readKeyRecord(await read(name, 'recovery', COPY_KEY));
}

/** Whether IndexedDB has the data of a database, and not only the copy of a key record. */
export async function isInIndexedDb(name: string): Promise<boolean> {
  return (await read(name, 'leadership', ENCRYPTION_KEY)) !== undefined;
}

async function read(name: string, store: StoreName, key: StorageKey): Promise<unknown> {
  try {
    const database = await openDB(databaseName(name), undefined, {
      // Only the engine creates the database: this would leave it without object stores.
      upgrade: (_database, _old, _new, transaction) => {
        transaction.done.catch(() => undefined);
        transaction.abort();
      },
    });
    try {
      return await database.get(store, [...key]);
    } finally {
      database.close();
    }
  } catch {
    // There is no such database yet, or no IndexedDB that opens: the engine reports that.
    return undefined;
  }
}
