import { toHex } from '../codec/exact-json/base64.ts';
import { StorageError } from '../errors/errors.ts';
import { notEncrypted } from '../storage/drivers/not-encrypted.ts';
import type { DataKeys } from '../storage/encryption/data-keys.ts';
import { keyRecordDamaged } from '../storage/encryption/encryption-errors.ts';
import {
  type KeyRecord,
  newKeyRecord,
  openKeyRecord,
  putKeyRecord,
  readKeyRecord,
} from '../storage/encryption/key-record.ts';
import { type Bytes, SEALED, sealBytes, unseal } from '../storage/encryption/sealing.ts';
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
 * Objects with a salt and a wrapped key. Devices that begin an empty target at once make one each:
 * a target cannot compare and set, and a key that another overwrites would be lost with all that it
 * sealed.
 */
const KEY_PATHS = 'cairn-keys/';

/** Wrapped keys of databases do not open as those of a target. */
const NAME = 'cairn backup target';

/**
 * Encrypts what goes to a backup target: each object is sealed with AES-256-GCM under a random data
 * key, which is wrapped by the key, and opens under its own path only. Paths stay as they are, and
 * sizes can be told.
 *
 * @throws {OptionError} `option_invalid`. Its methods reject with {StorageError} `key_wrong`,
 *   `not_encrypted` or `data_damaged`, and with what the target rejects with.
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
  const own: OwnKey = {};
  let opening: Promise<readonly CryptoKey[]> | undefined;
  const open = (): Promise<readonly CryptoKey[]> => {
    opening ??= openTarget(target, keys, own);
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
      await target.put(path, await sealBytes(key, SEALED.object, bytes as Bytes, path));
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

/** The key record that this page has made, which a list may leave out for a while. */
interface OwnKey {
  record?: { readonly path: string; readonly content: Uint8Array } | undefined;
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
    throw new StorageError(
      'data_damaged',
      `The object "${path}" of the backup target does not open: it was damaged, or changed by something without the key.`,
      { place: path, cause },
    );
  }
}

/**
 * The keys of a target, all devices in the same order; makes one for an empty target.
 *
 * @throws {StorageError} `key_wrong`, `data_damaged` or `format_newer` where none opens, and what
 *   the target rejects with.
 */
async function openTarget(
  target: EncryptableTarget,
  keys: PageKeys,
  own: OwnKey,
): Promise<readonly CryptoKey[]> {
  const records = await Promise.allSettled(
    (await keyPaths(target, keys, own)).map(async (path) => {
      const bytes = path === own.record?.path ? own.record.content : await target.get(path);
      return openKey(keys, bytes);
    }),
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
async function keyPaths(target: EncryptableTarget, keys: PageKeys, own: OwnKey): Promise<string[]> {
  const known = await target.list(KEY_PATHS);
  if (known.length === 0 && !own.record) {
    const all = await target.list('');
    if (all.length === 0) own.record = await newRecord(keys);
    // Another device may have made one between the two lists.
    else if (!all.some((path) => path.startsWith(KEY_PATHS))) await refuseUnsealed(target, all);
  }
  // The same one again where the last attempt failed, or a list says that it is not there.
  if (own.record && !known.includes(own.record.path))
    await target.put(own.record.path, own.record.content);
  const listed = await target.list(KEY_PATHS);
  return [...new Set([...listed, ...known, ...(own.record ? [own.record.path] : [])])].sort();
}

/**
 * Objects without a key are those of an app that did not encrypt, or the list lags: the key was
 * there before them.
 *
 * @throws {StorageError} `not_encrypted`; {Error} where another attempt makes sense.
 */
async function refuseUnsealed(target: EncryptableTarget, paths: readonly string[]): Promise<never> {
  const bytes = await target.get(paths[0] as string);
  if (bytes?.[0] === SEALED.object)
    throw new Error('The target holds sealed objects and does not list their key yet');
  throw notEncrypted();
}

async function newRecord(keys: PageKeys): Promise<NonNullable<OwnKey['record']>> {
  const { key, origin } = await keys.deriveNew();
  const { epoch, claim } = putKeyRecord(await newKeyRecord(NAME, key, origin));
  const content = new TextEncoder().encode(JSON.stringify({ epoch, claim }));
  return { path: `${KEY_PATHS}${toHex(origin.salt)}.json`, content };
}

async function openKey(keys: PageKeys, bytes: Uint8Array | undefined): Promise<DataKeys> {
  const record = readKey(bytes);
  const { key } = await keys.derive(record.origin);
  return openKeyRecord(NAME, record, key);
}

function readKey(bytes: Uint8Array | undefined): KeyRecord {
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
