import { keyWrong, webCrypto } from './encryption-errors.ts';
import type { Bytes } from './sealing.ts';

/** How a wrapping key came about. Stored in clear. */
export interface KeyOrigin {
  readonly kind: 'password' | 'derived' | 'passkey' | 'bytes' | 'crypto';
  readonly salt: Bytes;
  /** Rounds of PBKDF2; 0 for other kinds. */
  readonly rounds: number;
}

/** A key of the app as Cairn keeps it. A worker can get it. */
export interface KeyMaterial {
  readonly kind: KeyOrigin['kind'];
  /**
   * What the wrapping key is derived from; no script reads its bytes. Left out where a function of
   * the app derives.
   */
  readonly base?: CryptoKey | undefined;
}

/** OWASP Password Storage Cheat Sheet, 2023, for PBKDF2-HMAC-SHA-256. */
const ROUNDS = 600_000;

/** Rounds above this would only make a page hang. */
export const MAX_ROUNDS = 20_000_000;

const USE = 'cairn wrapping key 1';

export function newOrigin(kind: KeyOrigin['kind']): KeyOrigin {
  const salt = crypto.getRandomValues(new Uint8Array(16));
  return { kind, salt, rounds: kind === 'password' ? ROUNDS : 0 };
}

/** What wrapping keys of this kind are derived from. The bytes may be overwritten afterwards. */
export async function importBase(kind: KeyOrigin['kind'], bytes: Bytes): Promise<CryptoKey> {
  const algorithm = kind === 'password' ? 'PBKDF2' : 'HKDF';
  return webCrypto().importKey('raw', bytes, algorithm, false, ['deriveKey']);
}

/** @throws {StorageError} `key_wrong` for a key of another kind. */
export function checkKind(kind: KeyOrigin['kind'], origin: KeyOrigin): void {
  if (kind !== origin.kind)
    throw keyWrong(`it was encrypted with ${NAMES[origin.kind]}, and this is ${NAMES[kind]}`);
}

/** The key that wraps the data key of a database. */
export async function wrappingKey(
  base: CryptoKey,
  { kind, salt, rounds }: KeyOrigin,
): Promise<CryptoKey> {
  if (kind === 'crypto') return base;
  const algorithm =
    kind === 'password'
      ? { name: 'PBKDF2', hash: 'SHA-256', salt, iterations: rounds }
      : { name: 'HKDF', hash: 'SHA-256', salt, info: new TextEncoder().encode(USE) };
  const wrapping = { name: 'AES-GCM', length: 256 };
  return webCrypto().deriveKey(algorithm, base, wrapping, false, ['encrypt', 'decrypt']);
}

const NAMES = {
  password: 'a password',
  derived: 'a password with deriveKey',
  passkey: 'a passkey',
  bytes: 'bytes',
  crypto: 'a CryptoKey',
};
