import { DATABASE_ID, databaseIdOf } from '../drivers/database-id.ts';
import {
  STORE_NAMES,
  type Storage,
  type StorageKey,
  type StorageOperation,
  type StoreName,
} from '../drivers/driver.ts';
import { ENCRYPTION_KEY } from '../drivers/encryption-key.ts';
import { EPOCH_KEY, epochOf } from '../drivers/epoch.ts';
import { MOVED_KEY, movedTo } from '../drivers/moved.ts';
import type { FileDatabase } from './file-database.ts';
import { forgetExtent, noteExtent } from './file-extent.ts';

const deleteKeyRecord: StorageOperation = {
  ...{ type: 'delete', store: 'leadership', key: ENCRYPTION_KEY },
};

/** Segments copied at a time: about 2 MB. */
const CHUNK = 20;

/** The stores that move whole. Recovery records are in IndexedDB always. */
const MOVING = STORE_NAMES.filter((name) => name !== 'recovery' && name !== 'leadership');

/**
 * Moves a database from IndexedDB to files, all or nothing: it is in IndexedDB until the marker is stored, in the transaction that
 * removes it there. No other engine may run.
 */
export async function moveToFiles(files: FileDatabase, pages: Storage): Promise<void> {
  await files.clear();
  for (const store of MOVING) {
    const keys = await pages.keys(store, []);
    for (let from = 0; from < keys.length; from += CHUNK) {
      const some = keys.slice(from, from + CHUNK);
      const values = await pages.getMany(store, some);
      await files.write(putAll(store, some, values), 'relaxed');
    }
  }
  const keys = [EPOCH_KEY, ENCRYPTION_KEY];
  const [stored, record, id] = await pages.getMany('leadership', [...keys, DATABASE_ID]);
  const leadership = putFound(keys, [stored, record]);
  const forget: StorageOperation = { type: 'deletePrefix', store: 'recovery', prefix: [] };
  // All must survive a power cut before IndexedDB forgets it.
  await files.write([...leadership, forget], 'strict');
  const since = epochOf(stored) + 1;
  // The key that is left here would be opened by an old password.
  const moved = [movedTo('opfs', since), noteExtent(files.extent)];
  await pages.write([...emptied(), deleteKeyRecord, ...moved], 'strict');
  await files.settle(since, databaseIdOf(id));
}

/**
 * Moves a database from files to IndexedDB, all or nothing, in one transaction of IndexedDB. The files are to be removed then:
 * without a marker, and of an older epoch, they do not count.
 */
export async function moveToIndexedDb(files: FileDatabase, pages: Storage): Promise<void> {
  const value = { epoch: files.epoch + 1, claim: '' };
  const keyRecord = await files.getMany('leadership', [ENCRYPTION_KEY]);
  function* operations(): Generator<StorageOperation> {
    yield* emptied();
    for (const { store, key, value, size } of files.everything())
      if (store !== 'leadership') yield { type: 'put', store, key, value, size };
    yield { type: 'put', store: 'leadership', key: EPOCH_KEY, value };
    yield* putFound([ENCRYPTION_KEY], keyRecord);
    yield { type: 'delete', store: 'leadership', key: MOVED_KEY };
    yield forgetExtent;
  }
  await pages.write(operations(), 'strict');
}

function emptied(): StorageOperation[] {
  return MOVING.map((store) => ({ type: 'deletePrefix', store, prefix: [] }));
}

/** Puts what there is of leadership. Of data nothing may be missing. */
function putFound(keys: readonly StorageKey[], values: readonly unknown[]): StorageOperation[] {
  const found = keys.filter((_, index) => values[index] !== undefined);
  return putAll(
    'leadership',
    found,
    values.filter((value) => value !== undefined),
  );
}

function putAll(
  store: StoreName,
  keys: readonly StorageKey[],
  values: readonly unknown[],
): StorageOperation[] {
  return keys.map((key, index) => ({ type: 'put', store, key, value: values[index] as object }));
}
