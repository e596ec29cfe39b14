import { toHex } from '../codec/hex.ts';
import { StorageError } from '../errors/storage-error.ts';
import { notEncrypted } from '../storage/drivers/encryption-key.ts';
import type { DataKeys } from '../storage/encryption/data-keys.ts';
import { keyRecordDamaged, sealDamaged } from '../storage/encryption/encryption-errors.ts';
import {
  type KeyRecord,
  newKeyRecord,
  openKeyRecord,
  putKeyRecord,
  readKeyRecord,
} from '../storage/encryption/key-record.ts';
import { type Bytes, SEALED, seal, unseal } from '../storage/encryption/sealing.ts';
import { AppKey, type EncryptionKey } from './app-key.ts';
import { PageKeys } from './page-keys.ts';

/** Where backups go: a folder, a bucket, a server. */
export interface EncryptableTarget {
  put(path: string, bytes: Uint8Array): Promise<void>;
  get(path: string): Promise<Uint8Array | undefined>;
  list(prefix: string): Promise<string[]>;
  delete(path: string): Promise<void>;
  /** Says where it is, without credentials. */
  readonly id?: string;
}

/** Options of {@link encryptedTarget}: one of both. */
export type EncryptedTargetOptions =
  | { readonly key: EncryptionKey }
  | { readonly password: string };

/**
 * Objects with a salt and a wrapped key. Devices that begin an empty target at once make one each: a target cannot compare
 * and set, and a key that another overwrites would be lost with all that it sealed.
 */
const KEY_PATHS = 'cairn-keys/';

/** Wrapped keys of databases do not open as those of a target. */
const NAME = 'cairn backup target';

/**
 * Encrypts what goes to a backup target: each object is sealed with AES-256-GCM under a random data key, which is wrapped by the key, and opens
 * under its own path only. Paths stay as they are, and sizes can be told.
 *
 * @throws {OptionError} `option_invalid`. Its methods reject with {StorageError} `key_wrong`, `not_encrypted` or `data_damaged`, and with what
 *   the target rejects with.
 *
 * @example
 * ```ts
 * const files = new Map<string, Uint8Array>();
 * const target = encryptedTarget(
 *   {
 *     put: async (path, bytes) => void files.set(path, bytes),
 *     get: async (path) => files.get(path),
 *     list: async (prefix) => [...files.keys()].filter((path) => path.startsWith(prefix)),
 *     delete: async (path) => void files.delete(path),
 *   },
 *   { password: 'correct horse battery staple' },
 * );
 * await target.put('a', new Uint8Array([1]));
 * ```
 */
export function encryptedTarget(
  target: EncryptableTarget,
  options: EncryptedTargetOptions,
): EncryptableTarget {
  const given = options && 'password' in options ? options : options?.key;
  const keys = new PageKeys(AppKey.of(given, 'key'));
  let opening: Promise<readonly CryptoKey[]> | undefined;
  const open = (): Promise<readonly CryptoKey[]> => {
    opening ??= openTarget(target, keys);
    // The next call tries again.
    opening.catch(() => {
      opening = undefined;
    });
    return opening;
  };
  return {
    ...(target.id !== undefined && { id: target.id }),
    put: async (path, bytes) => {
      const [key] = (await open()) as [CryptoKey];
      await target.put(path, await seal(key, SEALED.object, bytes as Bytes, path));
    },
    get: async (path) => {
      const known = await open();
      const sealed = (await target.get(path)) as Bytes | undefined;
      if (!sealed) return undefined;
      try {
        return await unsealByAny(known, sealed, path);
      } catch {
        // Another device has made a key since.
        opening = undefined;
      }
      return unsealByAny(await open(), sealed, path);
    },
    list: async (prefix) =>
      (await target.list(prefix)).filter((path) => !path.startsWith(KEY_PATHS)),
    delete: (path) => target.delete(path),
  };
}

/** @throws {StorageError} `data_damaged` */
async function unsealByAny(
  keys: readonly CryptoKey[],
  sealed: Bytes,
  path: string,
): Promise<Bytes> {
  const opened = keys.map((key) => unseal(key, SEALED.object, sealed, path));
  try {
    return await Promise.any(opened);
  } catch (cause) {
    throw sealDamaged(`The object "${path}" of the backup target does not open`, cause);
  }
}

/**
 * The keys of a target, all devices in the same order; makes one for an empty target.
 *
 * @throws {StorageError} `key_wrong`, `data_damaged` or `format_newer` where none opens, and what the target rejects with.
 */
async function openTarget(
  target: EncryptableTarget,
  keys: PageKeys,
): Promise<readonly CryptoKey[]> {
  const records = await Promise.allSettled(
    (await keyPaths(target, keys)).map((path) => openKey(target, keys, path)),
  );
  const opened: CryptoKey[] = [];
  const errors: unknown[] = [];
  for (const record of records) {
    if (record.status === 'fulfilled') opened.push(record.value.values);
    // Else what the other key sealed would seem to be damaged.
    else if (!(record.reason instanceof StorageError)) throw record.reason;
    else errors.push(record.reason);
  }
  if (opened.length > 0) return opened;
  throw errors.find((error) => (error as StorageError).code !== 'key_wrong') ?? errors[0];
}

/** @throws {StorageError} `not_encrypted` */
async function keyPaths(target: EncryptableTarget, keys: PageKeys): Promise<string[]> {
  const known = await target.list(KEY_PATHS);
  if (known.length > 0) return known.sort();
  const all = await target.list('');
  const isOfKey = (path: string) => path.startsWith(KEY_PATHS);
  if (all.length === 0) await makeKey(target, keys);
  // Another device may have made one between the two lists.
  else if (!all.some(isOfKey)) throw notEncrypted();
  return (await target.list(KEY_PATHS)).sort();
}

async function makeKey(target: EncryptableTarget, keys: PageKeys): Promise<void> {
  const { key, origin } = await keys.deriveNew();
  const { epoch, claim } = putKeyRecord(await newKeyRecord(NAME, key, origin));
  const content = new TextEncoder().encode(JSON.stringify({ epoch, claim }));
  await target.put(`${KEY_PATHS}${toHex(origin.salt)}.json`, content);
}

async function openKey(target: EncryptableTarget, keys: PageKeys, path: string): Promise<DataKeys> {
  const record = await readKey(target, path);
  const { key } = await keys.derive(record.origin);
  return openKeyRecord(NAME, record, key);
}

async function readKey(target: EncryptableTarget, path: string): Promise<KeyRecord> {
  const bytes = await target.get(path);
  if (!bytes) throw keyRecordDamaged('it is gone');
  let stored: unknown;
  try {
    stored = JSON.parse(new TextDecoder().decode(bytes));
  } catch (cause) {
    throw keyRecordDamaged('it is no JSON', cause);
  }
  const record = stored === null ? undefined : readKeyRecord(stored);
  if (!record) throw keyRecordDamaged('it is empty');
  return record;
}
