import type { StorageError } from '../../errors/errors.ts';
import { aroundStorage, translator } from '../drivers/around-storage.ts';
import { DATABASE_ID, databaseIdOf } from '../drivers/database-id.ts';
import {
  STORE_NAMES,
  type Storage,
  type StorageKey,
  type StorageOperation,
} from '../drivers/driver.ts';
import { ENCRYPTION_KEY } from '../drivers/encryption-key.ts';
import type { StoredEpoch } from '../drivers/epoch.ts';
import { notEncrypted } from '../drivers/not-encrypted.ts';
import type { DataKeys } from './data-keys.ts';
import { EncryptedStorage } from './encrypted-storage.ts';
import { keyWrong, webCrypto } from './encryption-errors.ts';
import {
  admission,
  type DerivedKey,
  type EncryptedOptions,
  type KeyedStorage,
} from './encryption-module.ts';
import {
  type KeyRecord,
  newKeyRecord,
  openKeyRecord,
  putKeyRecord,
  readKeyRecord,
  rewrapped,
} from './key-record.ts';
import type { PageRecordPlace } from './page-records.ts';
import { checkKind, type KeyOrigin, newOrigin, wrappingKey } from './wrapping-key.ts';

/**
 * Where pages find a copy of the key record: in IndexedDB, also of a database in files, and locked
 * by no save.
 */
export const COPY_KEY: StorageKey = ['encryption', 0];

/** Where the data is. */
const DATA_STORES = STORE_NAMES.filter((store) => store !== 'leadership' && store !== 'recovery');

/** Above any number of recovery records. */
const ALL = 100_000;

/** As {@link EncryptionModule.openEncrypted}, with errors of the caller's class. */
export async function openEncrypted(
  storage: Storage,
  options: EncryptedOptions,
): Promise<KeyedStorage> {
  const { translated, translating } = translator(options.StorageError);
  const { name, hasPages } = options;
  const keys = await translating(() => open(storage, options));
  const opened = new EncryptedStorage(storage, keys, {
    damaged: (error) => options.events.damaged(translated(error) as StorageError),
  });
  return {
    ...aroundStorage(opened, translating, () => translating(() => opened.close())),
    admit: admission(keys.proofs, name),
    // A save locks `leadership`, and the copy is of the same write.
    keyRecord: () => translating(() => (hasPages ? storedCopy(storage) : storedKey(storage))),
  };
}

async function open(storage: Storage, options: EncryptedOptions): Promise<DataKeys> {
  webCrypto();
  const { name, next, hasPages } = options;
  const found = await Promise.all([readStoredKeyRecord(storage), hasPages && readCopy(storage)]);
  let [record] = found;
  if (!record) {
    if (next) throw notEncrypted();
    await checkEmpty(storage);
    record = await create(storage, options);
  }
  // Before the key is derived: a page derives it by the copy, which is older if a tab ended between
  // both writes.
  if (hasPages && !isSameRecord(found[1], record)) await copyRecord(storage);
  const key = await wrappingKeyOf(record.origin, options);
  if (next) {
    record = await changeKey(storage, name, record, key, next);
    // The change is done: the next opening copies what this one could not.
    if (hasPages) await copyRecord(storage).catch(() => undefined);
  }
  return openKeyRecord(name, record, next?.key ?? key);
}

/** Stores the key record of a new database; that of another opening, if it was first. */
async function create(storage: Storage, options: EncryptedOptions): Promise<KeyRecord> {
  const { name, key, derived } = options;
  const origin = derived?.origin ?? newOrigin(key.kind);
  const record = await newKeyRecord(name, await wrappingKeyOf(origin, options), origin);
  try {
    await storage.write([putKeyRecord(record)], 'strict');
    return record;
  } catch (error) {
    if ((error as StorageError).code !== 'database_taken') throw error;
    return (await readStoredKeyRecord(storage)) as KeyRecord;
  }
}

/**
 * Wraps the data key by another key.
 *
 * @param hasCopy Whether the write stores the copy for pages, too, as it can in IndexedDB: from
 *   then on every tab needs the new key.
 * @throws {StorageError} `key_wrong` where the key has changed meanwhile.
 */
export async function changeKey(
  storage: Storage,
  name: string,
  record: KeyRecord,
  key: CryptoKey,
  next: DerivedKey,
  hasCopy = false,
): Promise<KeyRecord> {
  const changed = await rewrapped(name, record, key, next);
  const claim = putKeyRecord(changed);
  try {
    await storage.write(hasCopy ? [putCopy(claim), claim] : [claim], 'strict');
  } catch (error) {
    if ((error as StorageError).code !== 'database_taken') throw error;
    throw keyWrong('another tab has changed it meanwhile', error);
  }
  return changed;
}

export async function readStoredKeyRecord(storage: Storage): Promise<KeyRecord | undefined> {
  return readKeyRecord(await storedKey(storage));
}

async function storedKey(storage: Storage): Promise<unknown> {
  return (await storage.getMany('leadership', [ENCRYPTION_KEY]))[0];
}

/** Recovery records are in IndexedDB, and this one is no record. */
async function copyRecord(storage: Storage): Promise<void> {
  await storage.write([putCopy((await storedKey(storage)) as StoredEpoch)], 'relaxed');
}

function putCopy({ epoch, claim }: StoredEpoch): StorageOperation {
  return { type: 'put', store: 'recovery', key: COPY_KEY, value: { epoch, claim } };
}

async function readCopy(storage: Storage): Promise<KeyRecord | undefined> {
  return readKeyRecord(await storedCopy(storage));
}

async function storedCopy(storage: Storage): Promise<unknown> {
  return (await storage.getMany('recovery', [COPY_KEY]))[0];
}

function isSameRecord(one: KeyRecord | false | undefined, other: KeyRecord): boolean {
  if (!one) return false;
  return one.version === other.version && sameBytes(one.wrapped, other.wrapped);
}

/**
 * What frozen pages wrote of a database that another page has destroyed does not count: it is
 * sealed, or has the id of that database.
 *
 * @throws {StorageError} `not_encrypted` where something is in clear, or lacks its key record.
 */
async function checkEmpty(storage: Storage): Promise<void> {
  for (const store of DATA_STORES)
    if ((await storage.keys(store, [])).length > 0) throw notEncrypted();
  const records = (await storage.list('recovery', { prefix: [], limit: ALL })) as object[];
  const [id] = await storage.getMany('leadership', [DATABASE_ID]);
  for (const record of records) {
    const { database } = record as PageRecordPlace;
    const isGone = database !== undefined && database !== databaseIdOf(id);
    if (!isGone && !('sealed' in record) && !('claim' in record)) throw notEncrypted();
  }
}

async function wrappingKeyOf(
  origin: KeyOrigin,
  { key, derived, derive }: EncryptedOptions,
): Promise<CryptoKey> {
  if (derived && sameBytes(derived.origin.salt, origin.salt)) return derived.key;
  if (derive) return (await derive(origin)).key;
  checkKind(key.kind, origin);
  if (key.base) return wrappingKey(key.base, origin);
  throw keyWrong('it was made for another salt. Connect again');
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}
