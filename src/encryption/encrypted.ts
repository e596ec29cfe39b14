import { loadFailed, OptionError, StorageError } from '../errors/errors.ts';
import { PageUnloadWriter } from '../page/unload/recovery-record.ts';
import type {
  ClientEncryption,
  EncryptedDriver,
  EngineEncryption,
} from '../protocol/client-encryption.ts';
import { deletableIndexedDb } from '../storage/drivers/deletable-indexeddb.ts';
import type { StorageDriver } from '../storage/drivers/driver.ts';
import { memoryDriver } from '../storage/drivers/memory-driver.ts';
import { type EncryptionModule, keyProof } from '../storage/encryption/encryption-module.ts';
import { readKeyRecord } from '../storage/encryption/key-record.ts';
import type { Bytes } from '../storage/encryption/sealing.ts';
import type { KeyOrigin } from '../storage/encryption/wrapping-key.ts';
import { AppKey, type EncryptionKey } from './app-key.ts';
import { PageKeys } from './page-keys.ts';
import { openJournals, PageSealing } from './page-sealing.ts';

/** Options of {@link encrypted}. */
export interface EncryptedStorageOptions {
  /**
   * What opens the database: a password, the PRF output of a passkey, 32 random bytes, or a
   * CryptoKey for AES-GCM or AES-KW. It is copied: you may overwrite your bytes afterwards.
   */
  key: EncryptionKey;
}

/** What can be encrypted. */
export type EncryptableStorage = 'indexeddb' | 'opfs' | 'memory' | StorageDriver;

/**
 * Encrypts everything that a database stores, with AES-256-GCM: documents, names, indexes, backups,
 * unload journals. Queries work as before: they run in memory.
 *
 * A lost key is lost data.
 *
 * @param storage As the option `storage`; a driver for `new Database()` only.
 * @throws {OptionError} `option_invalid`. Opening rejects with {StorageError} `key_wrong`,
 *   `not_encrypted`, `data_damaged` or `encryption_unavailable`.
 *
 * @example
 * ```ts
 * const db = connect({
 *   name: 'notes',
 *   storage: encrypted('indexeddb', { key: { password: 'correct horse battery staple' } }),
 * });
 * ```
 */
export function encrypted<Inner extends EncryptableStorage>(
  storage: Inner,
  options: EncryptedStorageOptions,
): EncryptedDriver<Inner> {
  const keys = new PageKeys(AppKey.of(options?.key, 'key'));
  return encryptedWith(checkedStorage(storage), clientEncryption(keys));
}

/** @throws {OptionError} */
export function checkedStorage<Inner extends EncryptableStorage>(storage: Inner): Inner {
  const isKnown = storage === 'indexeddb' || storage === 'opfs' || storage === 'memory';
  if (isKnown || typeof (storage as Partial<StorageDriver> | undefined)?.open === 'function')
    return storage;
  throw new OptionError(
    'option_invalid',
    "encrypted() takes 'indexeddb', 'opfs', 'memory' or a driver.",
    { place: 'storage' },
  );
}

/** @param next The keys that the database is to have. */
export function clientEncryption(keys: PageKeys, next?: PageKeys): ClientEncryption {
  return {
    forEngine: async (name, inWorker) => {
      const [key, derived, newKey, code] = await Promise.all([
        keys.material(),
        inWorker && keys.isSlow ? keys.derivedFor(name) : undefined,
        next?.deriveNew(),
        inWorker ? undefined : loadCode().catch(loadFailed),
      ]);
      const derive = inWorker ? undefined : (origin: KeyOrigin) => keys.derive(origin);
      return { code, key, derived, derive, next: newKey } satisfies EngineEncryption;
    },
    // The opening that needs them gets the failure.
    prepare: (name) => void keys.dataKeys(name).catch(() => undefined),
    proving: (name) => {
      const reading = keys.sharedKeys(name);
      reading.catch(() => undefined);
      return async (place, challenge) =>
        keyProof((await reading).proofs, name, place, challenge as Bytes);
    },
    check: async (name, record) => void (await keys.keysOf(name, readKeyRecord(record))),
    isOutdated: (name) => keys.isOutdated(name),
    pageWriting: (name) => new PageUnloadWriter(name, new PageSealing(name, keys)),
    readJournals: (name) => openJournals(name, keys),
  };
}

/** A driver over storage of this thread, for the suite of drivers and whatever else opens one. */
function encryptedWith<Inner extends EncryptableStorage>(
  storage: Inner,
  encryption: ClientEncryption,
): EncryptedDriver<Inner> {
  const driver = driverOf(storage);
  return {
    kind: driver.kind,
    storage,
    encryption,
    open: async (name, events) => {
      const { code, ...key } = await encryption.forEngine(name, false);
      const opened = await driver.open(name, events);
      try {
        const options = { ...key, name, hasPages: false, events, StorageError };
        return await (code as EncryptionModule).openEncrypted(opened, options);
      } catch (error) {
        await opened.close();
        throw error;
      }
    },
    ...(driver.delete && { delete: (name) => driver.delete?.(name) as Promise<void> }),
  };
}

function driverOf(storage: EncryptableStorage): StorageDriver {
  if (typeof storage === 'object') return storage;
  if (storage === 'memory') return memoryDriver();
  if (storage === 'indexeddb') return deletableIndexedDb();
  const open = async () => {
    throw new StorageError('storage_unavailable', "Storage 'opfs' needs connect().");
  };
  return { kind: storage, open };
}

function loadCode(): Promise<EncryptionModule> {
  return import('../storage/encryption/open-encrypted.ts');
}
