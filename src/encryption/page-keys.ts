import { openDB } from 'idb';
import { Backoff, systemClock } from '../async/clock.ts';
import { StorageError } from '../errors/errors.ts';
import type { StorageKey, StoreName } from '../storage/drivers/driver.ts';
import { ENCRYPTION_KEY } from '../storage/drivers/encryption-key.ts';
import { databaseName } from '../storage/drivers/indexeddb-connection.ts';
import type { DataKeys } from '../storage/encryption/data-keys.ts';
import { keyWrong } from '../storage/encryption/encryption-errors.ts';
import type { DerivedKey } from '../storage/encryption/encryption-module.ts';
import { type KeyRecord, openKeyRecord, readKeyRecord } from '../storage/encryption/key-record.ts';
import { COPY_KEY } from '../storage/encryption/open-encrypted.ts';
import { type KeyMaterial, type KeyOrigin, newOrigin } from '../storage/encryption/wrapping-key.ts';
import type { AppKey } from './app-key.ts';

/** How often a key record is read that is there, and after which pause first. */
const READS = 5;
const READ_AGAIN_MS = 50;

/** Derives the keys of databases in a page from one key of the app; each derivation runs once. */
export class PageKeys {
  readonly #key: AppKey;
  /** By salt. */
  readonly #derived = new Map<string, Promise<CryptoKey>>();
  #given: KeyOrigin | undefined;

  /** The keys that were derived last, and what for. */
  #latest: { readonly place: string; readonly keys: Promise<DataKeys> } | undefined;

  constructor(key: AppKey) {
    this.#key = key;
  }

  /** Whether it takes a tenth of a second to derive from, or only this page can. */
  get isSlow(): boolean {
    return this.#key.kind === 'password' || this.#key.kind === 'derived';
  }

  /** What an engine derives from. */
  material(): Promise<KeyMaterial> {
    return this.#key.material();
  }

  /** The wrapping key for a database, or for a new one. @throws {StorageError} `key_wrong` */
  async derivedFor(name: string): Promise<DerivedKey> {
    const record = await storedRecord(name);
    this.#given = record?.origin ?? newOrigin(this.#key.kind);
    return this.derive(this.#given);
  }

  /**
   * Whether the given key was for an older key record, as a tab ended before it copied the newer.
   */
  async isOutdated(name: string): Promise<boolean> {
    if (!this.#given) return false;
    const record = await storedRecord(name);
    return record !== undefined && record.origin.salt.join() !== this.#given.salt.join();
  }

  /** A wrapping key of an origin of its own. */
  deriveNew(): Promise<DerivedKey> {
    return this.derive(newOrigin(this.#key.kind));
  }

  async derive(origin: KeyOrigin): Promise<DerivedKey> {
    const salt = origin.salt.join();
    const deriving = this.#derived.get(salt) ?? this.#key.wrapping(origin);
    this.#derived.set(salt, deriving);
    // A callback may fail for once.
    deriving.catch(() => this.#derived.delete(salt));
    return { origin, key: await deriving };
  }

  /** The keys of a database. @throws {StorageError} `key_wrong` */
  async dataKeys(name: string): Promise<DataKeys> {
    return this.keysOf(name, await storedRecord(name));
  }

  /**
   * As {@link dataKeys}, where another tab has the database open: what cannot be read of it is
   * there, and a right key must not pass for a wrong one.
   *
   * @throws {StorageError} `key_wrong`, `storage_failed`
   */
  async sharedKeys(name: string): Promise<DataKeys> {
    const backoff = new Backoff(READ_AGAIN_MS);
    for (let attempt = 0; attempt < READS; attempt++) {
      const record = await storedRecord(name);
      if (record) return this.keysOf(name, record);
      await new Promise<void>((resolve) => systemClock.after(backoff.failed(), resolve));
    }
    throw new StorageError(
      'storage_failed',
      `The key record of the database "${name}" could not be read in IndexedDB, ${READS} times. Connect again.`,
      { place: name },
    );
  }

  /** As {@link dataKeys}, of a record that was read. */
  keysOf(name: string, record: KeyRecord | undefined): Promise<DataKeys> {
    const place = JSON.stringify([name, record?.version, record?.wrapped.join()]);
    if (this.#latest?.place === place) return this.#latest.keys;
    const keys = this.#open(name, record);
    this.#latest = { place, keys };
    keys.catch(() => {
      if (this.#latest?.keys === keys) this.#latest = undefined;
    });
    return keys;
  }

  async #open(name: string, record: KeyRecord | undefined): Promise<DataKeys> {
    if (!record) throw keyWrong('the database is not encrypted, or not open yet');
    const { key } = await this.derive(record.origin);
    return openKeyRecord(name, record, key);
  }
}

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
