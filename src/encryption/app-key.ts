import { OptionError, StorageError } from '../errors/errors.ts';
import type { Bytes } from '../storage/encryption/sealing.ts';
import {
  checkKind,
  importBase,
  type KeyMaterial,
  type KeyOrigin,
  wrappingKey,
} from '../storage/encryption/wrapping-key.ts';

/** A password, and how it becomes a key if not by PBKDF2-HMAC-SHA-256 with 600,000 rounds. */
export interface PasswordKey {
  readonly password: string;
  /**
   * Derives at least 32 bytes from the password, as by Argon2id; runs in the page. Must return the
   * same for the same arguments, as long as the database has this password.
   */
  readonly deriveKey?:
    | ((password: string, salt: Uint8Array) => BufferSource | Promise<BufferSource>)
    | undefined;
}

/** The output of the PRF extension of WebAuthn: 32 bytes that only this passkey gives. */
export interface PasskeyKey {
  readonly passkey: BufferSource;
}

/**
 * A key of a database: a password, a passkey, 32 random bytes, or a CryptoKey for AES-GCM or
 * AES-KW.
 */
export type EncryptionKey = PasswordKey | PasskeyKey | Uint8Array | CryptoKey;

/** The least that a key may have. */
const KEY_LENGTH = 32;

type DeriveBytes = (salt: Uint8Array) => unknown;

/** A key of the app, copied: the caller may overwrite its own. */
export class AppKey {
  readonly kind: KeyOrigin['kind'];
  readonly #base: Promise<CryptoKey> | undefined;
  readonly #deriveBytes: DeriveBytes | undefined;

  private constructor(
    kind: KeyOrigin['kind'],
    base: Promise<CryptoKey> | undefined,
    deriveBytes?: DeriveBytes,
  ) {
    this.kind = kind;
    this.#base = base;
    this.#deriveBytes = deriveBytes;
    // The opening that needs it gets the failure.
    base?.catch(() => undefined);
  }

  /** @throws {OptionError} */
  static of(key: unknown, option: string): AppKey {
    const copy = AppKey.#copy(key);
    if (copy) return copy;
    // Not the key itself: messages end up in logs.
    throw new OptionError(
      'option_invalid',
      `The option "${option}" must be { password: string, deriveKey? }, { passkey: bytes }, 32 bytes, or a CryptoKey for AES-GCM or AES-KW.`,
      { place: option },
    );
  }

  static #copy(key: unknown): AppKey | undefined {
    if (typeof CryptoKey !== 'undefined' && key instanceof CryptoKey)
      return canWrap(key) ? new AppKey('crypto', Promise.resolve(key)) : undefined;
    const bytes = ArrayBuffer.isView(key) && copyOf(key);
    if (bytes)
      return tagOf(key) === 'Uint8Array' && bytes.length === KEY_LENGTH
        ? AppKey.#imported('bytes', bytes)
        : undefined;
    const { password, deriveKey, passkey } = (key ?? {}) as Partial<PasswordKey & PasskeyKey>;
    const output = copyOf(passkey);
    if (output)
      return output.length >= KEY_LENGTH ? AppKey.#imported('passkey', output) : undefined;
    if (typeof password !== 'string' || password === '') return undefined;
    // The same password typed on another system may have other code points.
    const normalized = password.normalize('NFKC');
    if (deriveKey === undefined)
      return AppKey.#imported('password', new TextEncoder().encode(normalized));
    if (typeof deriveKey !== 'function') return undefined;
    return new AppKey('derived', undefined, (salt) => deriveKey.call(key, normalized, salt));
  }

  static #imported(kind: KeyOrigin['kind'], bytes: Bytes): AppKey {
    return new AppKey(
      kind,
      importBase(kind, bytes).finally(() => bytes.fill(0)),
    );
  }

  async material(): Promise<KeyMaterial> {
    return { kind: this.kind, base: await this.#base };
  }

  /** The wrapping key of an origin. @throws {StorageError} `key_wrong`, `key_not_derived` */
  async wrapping(origin: KeyOrigin): Promise<CryptoKey> {
    checkKind(this.kind, origin);
    return wrappingKey(await (this.#base ?? this.#derivedBase(origin.salt)), origin);
  }

  async #derivedBase(salt: Bytes): Promise<CryptoKey> {
    let derived: unknown;
    try {
      derived = await this.#deriveBytes?.(salt.slice());
    } catch (cause) {
      throw keyNotDerived(`it threw ${cause}`, cause);
    }
    const bytes = copyOf(derived);
    if (!bytes) throw keyNotDerived('it returned no bytes');
    try {
      if (bytes.length < KEY_LENGTH) throw keyNotDerived(`it returned ${bytes.length} bytes`);
      return await importBase('derived', bytes);
    } finally {
      bytes.fill(0);
    }
  }
}

function canWrap({ algorithm, usages }: CryptoKey): boolean {
  const can = (...wanted: KeyUsage[]) => wanted.every((usage) => usages.includes(usage));
  if (algorithm.name === 'AES-KW') return can('wrapKey', 'unwrapKey');
  return algorithm.name === 'AES-GCM' && (can('encrypt', 'decrypt') || can('wrapKey', 'unwrapKey'));
}

/** A copy of bytes of any realm; `undefined` for anything else. */
function copyOf(value: unknown): Bytes | undefined {
  if (ArrayBuffer.isView(value))
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength).slice() as Bytes;
  const tag = tagOf(value);
  return tag === 'ArrayBuffer' || tag === 'SharedArrayBuffer'
    ? (new Uint8Array(value as ArrayBuffer).slice() as Bytes)
    : undefined;
}

function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}

/** @param why A clause. */
function keyNotDerived(why: string, cause?: unknown): StorageError {
  return new StorageError(
    'key_not_derived',
    `deriveKey() of the key made no key: ${why}. It must return at least ${KEY_LENGTH} bytes, the same for the same arguments. Nothing was changed: open the database again once it does.`,
    { place: 'deriveKey', cause },
  );
}
