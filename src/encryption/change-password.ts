import { loadFailed, OptionError, StorageError } from '../errors/errors.ts';
import { BaseClient } from '../page/client/base-client.ts';
import type { Storage } from '../storage/drivers/driver.ts';
import { indexedDbDriver } from '../storage/drivers/indexeddb-driver.ts';
import { notEncrypted } from '../storage/drivers/not-encrypted.ts';
import { changeKey, readStoredKeyRecord } from '../storage/encryption/open-encrypted.ts';
import { AppKey, type EncryptionKey } from './app-key.ts';
import { checkedStorage, clientEncryption, type EncryptableStorage } from './encrypted.ts';
import { isInIndexedDb, PageKeys, storedRecord } from './page-keys.ts';

/** Options of {@link changePassword}. */
export interface ChangePasswordOptions {
  /** Name of the database. */
  name: string;
  /** What is encrypted, as `encrypted()` has it. */
  storage: Exclude<EncryptableStorage, 'memory'>;
  /** The key that opens it now. */
  key: EncryptionKey;
  /** The key that is to open it from now on; of any kind. */
  new_key: EncryptionKey;
}

/**
 * Gives a database another key. Only the wrapped data key is written anew, so it takes as long with
 * any amount of data. All or nothing.
 *
 * From then on every opening needs the new key, in all tabs. Clients that have the database open go
 * on until they are opened again, or another tab takes over as leader: then they fail with
 * `key_wrong`, and what they were told is done is journaled for the next client.
 *
 * With storage `opfs` no client may have the database open, in any tab.
 *
 * @throws {StorageError} `key_wrong`, `not_encrypted`; `database_busy` where a client has files
 *   open; {OptionError} `option_invalid`.
 *
 * @example
 * ```ts
 * await changePassword({
 *   name: 'notes',
 *   storage: 'indexeddb',
 *   key: { password: 'correct horse battery staple' },
 *   new_key: { password: 'another one' },
 * });
 * ```
 */
export async function changePassword(options: ChangePasswordOptions): Promise<void> {
  const { name, storage } = options;
  const keys = new PageKeys(AppKey.of(options.key, 'key'));
  const next = new PageKeys(AppKey.of(options.new_key, 'new_key'));
  if (typeof name !== 'string' || name === '' || (storage as string) === 'memory')
    throw new OptionError(
      'option_invalid',
      "changePassword() takes the name of a database, and a storage other than 'memory'.",
      { place: name ? 'storage' : 'name' },
    );
  checkedStorage(storage);
  const stored = typeof storage === 'string' ? await storedRecord(name) : undefined;
  // To open it would make one.
  const exists = typeof storage === 'string' ? stored : ((await storage.has?.(name)) ?? true);
  if (!exists) throw notEncrypted();
  if (storage === 'opfs' && !(await isInIndexedDb(name)))
    return changeInWorker(name, keys, next, stored?.version);
  const driver = typeof storage === 'object' ? storage : indexedDbDriver();
  const opened = await driver.open(name, { damaged: () => undefined });
  try {
    await changeIn(opened, name, keys, next, typeof storage === 'string');
  } finally {
    await opened.close();
  }
}

async function changeIn(
  storage: Storage,
  name: string,
  keys: PageKeys,
  next: PageKeys,
  hasPages: boolean,
): Promise<void> {
  const record = await readStoredKeyRecord(storage);
  if (!record) throw notEncrypted();
  const [{ key }, derived] = await Promise.all([keys.derive(record.origin), next.deriveNew()]);
  await changeKey(storage, name, record, key, derived, hasPages);
}

/** Files open in one worker alone. */
async function changeInWorker(
  name: string,
  keys: PageKeys,
  next: PageKeys,
  version: number | undefined,
): Promise<void> {
  const settings = {
    ...{ name, storage: 'opfs' as const, durability: 'strict' as const },
    encryption: clientEncryption(keys, next),
  };
  const client = new BaseClient(settings, async () => {
    const { connectToWorker } = await import(
      '../page/connection/worker/connect-to-worker.ts'
    ).catch(loadFailed);
    return connectToWorker({ worker: undefined, answer_timeout: 20 }, settings);
  });
  try {
    await client.ready.catch(async (error: { code?: string }) => {
      if (error.code !== 'key_wrong') throw error;
      // A worker may have ended after it changed the key, before it answered: the next one opens
      // with the new key alone.
      await next.dataKeys(name).catch(() => Promise.reject(error));
    });
    // Not whether it leads: another client of this page may have begun to.
    if ((await storedRecord(name))?.version !== version) return;
    throw new StorageError(
      'database_busy',
      `The key is unchanged: a client has the database "${name}" open. Close all clients, in all tabs, and call changePassword() again.`,
      { place: name },
    );
  } finally {
    // A worker that ends meanwhile changes nothing of what was done or refused.
    await client.close().catch(() => undefined);
  }
}
