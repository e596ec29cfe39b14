import { openDB } from 'idb';
import { ENCRYPTION_KEY } from '../storage/drivers/encryption-key.ts';
import { databaseName } from '../storage/drivers/indexeddb-connection.ts';
import { type KeyRecord, readKeyRecord } from '../storage/encryption/key-record.ts';
import { COPY_KEY } from '../storage/encryption/open-encrypted.ts';

/** The key record of a database of IndexedDB, or the copy of one in files; `undefined` where there is none. */
export async function storedRecord(name: string): Promise<KeyRecord | undefined> {
  const [stored, copy] = await readPlaces(name);
  return readKeyRecord(stored ?? copy);
}

/** Whether a database is in files, as far as IndexedDB knows. */
export async function isInFiles(name: string): Promise<boolean> {
  const [stored, copy] = await readPlaces(name);
  return stored === undefined && copy !== undefined;
}

async function readPlaces(name: string): Promise<readonly [unknown, unknown] | readonly []> {
  if (typeof indexedDB === 'undefined') return [];
  try {
    const database = await openDB(databaseName(name), undefined, {
      // Only the engine creates the database: this would leave it without object stores.
      upgrade: (_database, _old, _new, transaction) => {
        transaction.done.catch(() => undefined);
        transaction.abort();
      },
    });
    try {
      return await Promise.all([
        database.get('leadership', [...ENCRYPTION_KEY]),
        database.get('recovery', [...COPY_KEY]),
      ]);
    } finally {
      database.close();
    }
  } catch {
    // There is no such database yet, or no IndexedDB that opens: the engine reports that.
    return [];
  }
}
