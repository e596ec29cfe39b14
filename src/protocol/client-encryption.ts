import type { StorageDriver } from '../storage/drivers/driver.ts';
import type {
  DerivedKey,
  EncryptionModule,
  GivenKey,
} from '../storage/encryption/encryption-module.ts';
import type { RecoveryRecord, UnloadWriter } from './recovery-records.ts';

/** What an engine needs to encrypt: the key, and in the thread the code. */
export interface EngineEncryption extends GivenKey {
  readonly code: EncryptionModule | undefined;
  /** Another key that the database is to have. */
  readonly next?: DerivedKey | undefined;
}

/**
 * Answers the challenge of a leader.
 *
 * @param place What the proof is good for.
 * @throws {StorageError} `key_wrong`, before anything is told to the leader.
 */
export type Prove = (place: readonly string[], challenge: Uint8Array) => Promise<Uint8Array>;

/**
 * The encryption of a client, which `encrypted()` makes: an app without it loads no code for it.
 */
export interface ClientEncryption {
  /** @param inWorker Whether the engine runs in a worker. */
  forEngine(name: string, inWorker: boolean): Promise<EngineEncryption>;
  /** Begins to derive what proofs and page ends need. */
  prepare(name: string): void;
  /**
   * Begins to read what is stored of the key now, and returns what proves to a leader in another
   * tab that this client has the key.
   */
  proving(name: string): Prove;
  /**
   * Checks the key against what is stored of it.
   *
   * @throws {StorageError} `key_wrong`
   */
  check(name: string, record: unknown): Promise<void>;
  /**
   * Whether the engine that has failed was given a key for an older key record: another would get
   * the right one.
   */
  isOutdated(name: string): Promise<boolean>;
  /** Seals what the page writes as it ends. */
  pageWriting(name: string): UnloadWriter;
  /** The unload journals of a database, opened. */
  readJournals(name: string): Promise<readonly RecoveryRecord[]>;
}

/** What `encrypted()` of `cairndb/encryption` returns: pass it as the option `storage`. */
export interface EncryptedDriver<Inner = unknown> extends StorageDriver {
  /** What is encrypted. */
  readonly storage: Inner;
  readonly encryption: ClientEncryption;
}
