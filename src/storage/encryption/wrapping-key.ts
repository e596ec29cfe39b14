import { keyWrong, webCrypto } from './encryption-errors.ts';
import type { Bytes } from './sealing.ts';

/** A password, and how it becomes a key if not by PBKDF2-HMAC-SHA-256 with 600,000 rounds. */
export interface PasswordKey {
  readonly password: string;
  /**
   * Derives at least 32 bytes from the password, as by Argon2id; runs in the page. Must return the same for the same arguments, as long as the
   * database has this password.
   */
  readonly deriveKey?:
    | ((password: string, salt: Uint8Array) => BufferSource | Promise<BufferSource>)
    | undefined;
}

/** The output of the PRF extension of WebAuthn: 32 bytes that only this passkey gives. */
export interface PasskeyKey {
  readonly passkey: BufferSource;
}

/** A key of a database: a password, a passkey, 32 random bytes, or a CryptoKey for AES-GCM or AES-KW. */
export type EncryptionKey = PasswordKey | PasskeyKey | Uint8Array | CryptoKey;

/** How a wrapping key came about. Stored in clear. */
export interface KeyOrigin {
  readonly kind: 'password' | 'derived' | 'passkey' | 'bytes' | 'crypto';
  readonly salt: Bytes;
  /** Rounds of PBKDF2; 0 for other kinds. */
  readonly rounds: number;
}

/** OWASP Password Storage Cheat Sheet, 2023, for PBKDF2-HMAC-SHA-256. */
const ROUNDS = 600_000;

/** Rounds above this would only make a page hang. */
export const MAX_ROUNDS = 20_000_000;

/** The least that a key may have. */
const KEY_LENGTH = 32;

/** What is allowed, for messages of errors. */
export const ALLOWED_KEYS =
  '{ password: string, deriveKey? }, { passkey: bytes }, 32 bytes, or a CryptoKey for AES-GCM or AES-KW';

const encoder = new TextEncoder();
const USE = 'cairn wrapping key 1';

/** A new origin for a key, with a salt of its own. */
export function newOrigin(key: EncryptionKey): KeyOrigin {
  const kind = kindOf(key);
  const salt = crypto.getRandomValues(new Uint8Array(16));
  return { kind, salt, rounds: kind === 'password' ? ROUNDS : 0 };
}

export function isEncryptionKey(key: unknown): key is EncryptionKey {
  if (isCryptoKey(key)) {
    const can = (...usages: KeyUsage[]) => usages.every((usage) => key.usages.includes(usage));
    const { name } = key.algorithm;
    if (name === 'AES-KW') return can('wrapKey', 'unwrapKey');
    return name === 'AES-GCM' && (can('encrypt', 'decrypt') || can('wrapKey', 'unwrapKey'));
  }
  if (key instanceof Uint8Array) return key.length === KEY_LENGTH;
  const { password, deriveKey, passkey } = (key ?? {}) as Partial<PasswordKey & PasskeyKey>;
  if (typeof password === 'string' && password !== '')
    return deriveKey === undefined || typeof deriveKey === 'function';
  return isBytes(passkey) && passkey.byteLength >= KEY_LENGTH;
}

/**
 * The key that wraps the data key of a database.
 *
 * @throws {StorageError} `key_wrong` for a key of another kind.
 */
export async function wrappingKey(key: EncryptionKey, origin: KeyOrigin): Promise<CryptoKey> {
  const kind = kindOf(key);
  if (kind !== origin.kind)
    throw keyWrong(`it was encrypted with ${NAMES[origin.kind]}, and this is ${NAMES[kind]}`);
  if (isCryptoKey(key)) return key;
  if (kind === 'password') return fromPassword((key as PasswordKey).password, origin);
  return fromBytes(await bytesOf(key, origin.salt), origin.salt);
}

const NAMES = {
  password: 'a password',
  derived: 'a password with deriveKey',
  passkey: 'a passkey',
  bytes: 'bytes',
  crypto: 'a CryptoKey',
};

function kindOf(key: EncryptionKey): KeyOrigin['kind'] {
  if (isCryptoKey(key)) return 'crypto';
  if (key instanceof Uint8Array) return 'bytes';
  if ('passkey' in key) return 'passkey';
  return key.deriveKey ? 'derived' : 'password';
}

async function bytesOf(
  key: PasswordKey | PasskeyKey | Uint8Array,
  salt: Bytes,
): Promise<BufferSource> {
  if (key instanceof Uint8Array) return key as Bytes;
  if ('passkey' in key) return key.passkey;
  const derived = await key.deriveKey?.(normalized(key.password), salt.slice());
  if (isBytes(derived) && derived.byteLength >= KEY_LENGTH) return derived;
  throw new TypeError(`deriveKey must return at least ${KEY_LENGTH} bytes.`);
}

/** The same password typed on another system may have other code points. */
function normalized(password: string): string {
  return password.normalize('NFKC');
}

async function fromPassword(password: string, { salt, rounds }: KeyOrigin): Promise<CryptoKey> {
  const subtle = webCrypto();
  const material = encoder.encode(normalized(password));
  const base = await subtle.importKey('raw', material, 'PBKDF2', false, ['deriveKey']);
  const algorithm = { name: 'PBKDF2', hash: 'SHA-256', salt, iterations: rounds };
  return subtle.deriveKey(algorithm, base, WRAPPING, false, USAGES);
}

async function fromBytes(bytes: BufferSource, salt: Bytes): Promise<CryptoKey> {
  const subtle = webCrypto();
  const base = await subtle.importKey('raw', bytes, 'HKDF', false, ['deriveKey']);
  const algorithm = { name: 'HKDF', hash: 'SHA-256', salt, info: encoder.encode(USE) };
  return subtle.deriveKey(algorithm, base, WRAPPING, false, USAGES);
}

const WRAPPING = { name: 'AES-GCM', length: 256 };
const USAGES: KeyUsage[] = ['encrypt', 'decrypt'];

function isCryptoKey(key: unknown): key is CryptoKey {
  return typeof CryptoKey !== 'undefined' && key instanceof CryptoKey;
}

function isBytes(value: unknown): value is BufferSource {
  return value instanceof ArrayBuffer || ArrayBuffer.isView(value);
}
