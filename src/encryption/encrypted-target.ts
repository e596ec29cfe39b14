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
import { type EncryptionKey, newOrigin } from '../storage/encryption/wrapping-key.ts';
import { checkedKey } from './encrypted.ts';
import { PageKeys } from './page-keys.ts';

/** Where backups go: a folder, a bucket, a server. */
export interface EncryptableTarget {
  put(path: string, bytes: Uint8Array): Promise<void>;
  get(path: string): Promise<Uint8Array | undefined>;
  list(prefix: string): Promise<string[]>;
  delete(path: string): Promise<void>;
}

/** Options of {@link encryptedTarget}: one of both. */
export type EncryptedTargetOptions =
  | { readonly key: EncryptionKey }
  | { readonly password: string };

/** The object that has the salt and the wrapped key. */
const KEY_PATH = 'cairn-key.json';

/** Wrapped keys of databases do not open as those of a target. */
const NAME = 'cairn backup target';

/**
 * Encrypts what goes to a backup target: each object is sealed with AES-256-GCM under a random data key, which is wrapped by the key, and opens
 * under its own path only. Paths stay as they are, and sizes can be told.
 *
 * Use a target from one device until it has its first object: two that begin at the same time could each make a key.
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
  const keys = new PageKeys(checkedKey(given, 'key'));
  let opening: Promise<DataKeys> | undefined;
  const values = async (): Promise<CryptoKey> => {
    opening ??= openTarget(target, keys);
    // The next call tries again.
    opening.catch(() => {
      opening = undefined;
    });
    return (await opening).values;
  };
  return {
    put: async (path, bytes) =>
      target.put(path, await seal(await values(), SEALED.object, bytes as Bytes, path)),
    get: async (path) => {
      const key = await values();
      const sealed = await target.get(path);
      if (!sealed) return undefined;
      try {
        return await unseal(key, SEALED.object, sealed as Bytes, path);
      } catch (cause) {
        throw sealDamaged(`The object "${path}" of the backup target does not open`, cause);
      }
    },
    list: async (prefix) => (await target.list(prefix)).filter((path) => path !== KEY_PATH),
    delete: (path) => target.delete(path),
  };
}

async function openTarget(target: EncryptableTarget, keys: PageKeys): Promise<DataKeys> {
  let record = await readTarget(target);
  if (!record) {
    if ((await target.list('')).length > 0) throw notEncrypted();
    const { key, origin } = await keys.derive(newOrigin(keys.key));
    const { epoch, claim } = putKeyRecord(await newKeyRecord(NAME, key, origin));
    await target.put(KEY_PATH, new TextEncoder().encode(JSON.stringify({ epoch, claim })));
    // What is there now counts: another device may have been later.
    record = (await readTarget(target)) as KeyRecord;
  }
  const { key } = await keys.derive(record.origin);
  return openKeyRecord(NAME, record, key);
}

async function readTarget(target: EncryptableTarget): Promise<KeyRecord | undefined> {
  const bytes = await target.get(KEY_PATH);
  if (!bytes) return undefined;
  let stored: unknown;
  try {
    stored = JSON.parse(new TextDecoder().decode(bytes));
  } catch (cause) {
    throw keyRecordDamaged('it is no JSON', cause);
  }
  return readKeyRecord(stored);
}
