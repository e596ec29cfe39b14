import type { StorageError } from '../../errors/errors.ts';
import type { Storage, StorageEvents } from '../drivers/driver.ts';
import { CHALLENGE, PROOF } from '../drivers/encryption-key.ts';
import { webCrypto } from './encryption-errors.ts';
import type { Bytes } from './sealing.ts';
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

/** A channel to a client in another tab. */
interface ProofChannel {
  postMessage(message: unknown): void;
  addEventListener(type: string, listener: (event: Event) => void): void;
  removeEventListener(type: string, listener: (event: Event) => void): void;
}

/**
 * Serves a client once it has proven that it has the key of the database.
 *
 * @param place What the proof is good for: the term of the leader, the client, and their channel.
 */
export type Admit = (channel: ProofChannel, place: readonly string[], serve: () => void) => void;

/**
 * A proof of the key of a database: a MAC over a challenge that no other has got, for one place.
 */
export async function keyProof(
  proofs: CryptoKey,
  database: string,
  place: readonly string[],
  challenge: Bytes,
): Promise<Bytes> {
  const bytes = proofBytes(database, place, challenge);
  return new Uint8Array(await webCrypto().sign('HMAC', proofs, bytes));
}

/**
 * As a leader with these keys admits its clients. docs/decisions/042-encryption.md has the reasons.
 */
export function admission(proofs: CryptoKey, database: string): Admit {
  return (channel, place, serve) => {
    const challenge = crypto.getRandomValues(new Uint8Array(32));
    const hear = async (event: Event): Promise<void> => {
      const { [PROOF]: proof } = ((event as MessageEvent).data ?? {}) as { [PROOF]?: Bytes };
      if (!proof) return;
      // One attempt for a challenge.
      channel.removeEventListener('message', hear);
      if (await isProof(proofs, proofBytes(database, place, challenge), proof)) serve();
      else channel.postMessage({ [PROOF]: false });
    };
    channel.addEventListener('message', hear);
    channel.postMessage({ [CHALLENGE]: challenge });
  };
}

async function isProof(proofs: CryptoKey, bytes: Bytes, proof: Bytes): Promise<boolean> {
  try {
    return await webCrypto().verify('HMAC', proofs, proof, bytes);
  } catch {
    return false; // no bytes: any script of the origin may post anything
  }
}

function proofBytes(database: string, place: readonly string[], challenge: Bytes): Bytes {
  return new TextEncoder().encode(
    JSON.stringify(['cairn join 1', database, ...place, challenge.join()]),
  );
}
