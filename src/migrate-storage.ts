import { type MigrateOptions, parseMigrateOptions } from './api/options/client-options.ts';
import { loadFailed, StorageError } from './errors/errors.ts';
import { BaseClient } from './page/client/base-client.ts';

/**
 * Moves a database between IndexedDB and files, all or nothing: after a crash it is in one of them,
 * whole. Backups move along. Does nothing where the data is there already.
 *
 * No client may have the database open, in any tab.
 *
 * @throws {StorageError} `storage_unavailable` where the browser has no such files; `database_busy`
 *   while a client is open; `storage_full` if there is no room for both copies. The data stays
 *   where it was.
 *
 * @example
 * ```ts
 * await migrateStorage({ name: 'shop', to: 'opfs' });
 * const db = connect({ name: 'shop', storage: 'opfs' });
 * ```
 */
export async function migrateStorage(options: MigrateOptions): Promise<void> {
  const { to, worker, answer_timeout, ...database } = parseMigrateOptions(options);
  const settings = { ...database, storage: 'opfs', move_to: to } as const;
  let decide = async () => false;
  const client = new BaseClient(settings, async () => {
    const { connectToMove } = await import('./page/connection/worker/connect-to-worker.ts').catch(
      loadFailed,
    );
    const move = connectToMove({ worker, answer_timeout }, settings);
    decide = move.decide;
    return move.access;
  });
  try {
    await client.ready.catch((error: { code?: string }) => {
      // An open client of an encrypted database serves nobody without a key.
      if (error.code !== 'key_missing') throw error;
    });
    const isMoved = await decide();
    const { storage, storage_reason: why, leader } = client.status;
    if (why) throw new StorageError('storage_unavailable', `Nothing was moved. ${why}`);
    if (isMoved || (leader && storage === to)) return;
    throw new StorageError(
      'database_busy',
      `Nothing was moved: a client has the database "${settings.name}" open. Close all clients, in all tabs, and call migrateStorage() again.`,
      { place: settings.name },
    );
  } finally {
    // A worker that ends meanwhile changes nothing of what was done or refused.
    await client.close().catch(() => undefined);
  }
}
