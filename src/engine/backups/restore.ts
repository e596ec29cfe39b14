import type { Snapshot } from '../../backup/snapshot.ts';
import { BackupError } from '../../errors/backup-error.ts';
import { StorageError } from '../../errors/storage-error.ts';
import { checkFormat } from '../../storage/log/open-log.ts';
import { typeMismatch } from '../collection-errors.ts';
import type { CollectionContext } from '../collections/collection-context.ts';
import type { Replacement } from './replacement.ts';

/**
 * Puts a backup in the place of what a collection holds.
 *
 * @throws {BackupError} `backup_damaged`
 */
export async function restore(
  { settings, saves }: CollectionContext,
  replacing: Replacement,
  snapshot: Snapshot,
): Promise<void> {
  const { name, type } = settings;
  checkFormat(name, snapshot.format);
  if (snapshot.type !== type) throw typeMismatch(name, snapshot.type, type);
  await bring(replacing, snapshot);
  await saves.alone(() => replacing.write());
  await replacing.settleIn();
}

async function bring(replacing: Replacement, snapshot: Snapshot): Promise<void> {
  try {
    await replacing.bring(snapshot.segments);
  } catch (cause) {
    if (!(cause instanceof StorageError) || cause.code !== 'data_damaged') throw cause;
    throw damaged(snapshot, cause.message, cause);
  }
  const { length: size } = replacing.records.list;
  if (size === snapshot.documents) return;
  throw damaged(snapshot, `It holds ${size} documents instead of ${snapshot.documents}.`);
}

function damaged({ collection, name }: Snapshot, why: string, cause?: unknown): BackupError {
  return new BackupError(
    'backup_damaged',
    `Backup "${name}" of collection "${collection}" is damaged: ${why} The collection is as it was; verify() says which backups are whole.`,
    { place: collection, cause },
  );
}
