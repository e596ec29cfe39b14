import type { StorageError } from '../../errors/errors.ts';
import type { Storage, StorageEvents } from '../drivers/driver.ts';
import type { Admit } from './key-proof.ts';
import type { KeyMaterial, KeyOrigin } from './wrapping-key.ts';

/** A wrapping key that the page has derived already: that takes a tenth of a second. */
export interface DerivedKey {
  readonly origin: KeyOrigin;
  readonly key: CryptoKey;
}

/** The key of a database, as an engine gets it. */
export interface GivenKey {
  /** Derives from the key, in this thread: each origin once. */
  readonly derive?: ((origin: KeyOrigin) => Promise<DerivedKey>) | undefined;
  readonly key: KeyMaterial;
  readonly derived: DerivedKey | undefined;
}

/** How to open encrypted storage. */
export interface EncryptedOptions extends GivenKey {
  readonly name: string;
  /** Another key that the database is to have. */
  readonly next?: DerivedKey | undefined;
  /**
   * Whether pages read a copy of the key record in `recovery`: no save locks that, and it is in
   * IndexedDB always.
   */
  readonly hasPages: boolean;
  readonly events: StorageEvents;
  /** The caller's own class of errors: the script has a copy of its own. */
  readonly StorageError: typeof StorageError;
}

/** Encrypted storage, and what its clients need to prove their keys. */
export interface KeyedStorage extends Storage {
  readonly admit: Admit;
  /** What is stored of the key now: it may have been changed since. */
  readonly keyRecord: () => Promise<unknown>;
}

/** What the script of encryption exports, which a worker loads when it is requested. */
export interface EncryptionModule {
  /**
   * @param storage An opened one. It stays open where this fails.
   * @throws {StorageError} `key_wrong`, `not_encrypted`, `data_damaged`, `format_newer`,
   *   `encryption_unavailable`
   */
  openEncrypted(storage: Storage, options: EncryptedOptions): Promise<KeyedStorage>;
}
