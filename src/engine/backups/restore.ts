import type { Snapshot } from '../../backup/snapshot.ts';
import { BackupError } from '../../errors/backup-error.ts';
import { StorageError } from '../../errors/storage-error.ts';
import { checkFormat } from '../../storage/log/open-log.ts';
import { typeMismatch } from '../collection-errors.ts';
import { type ReplaceHost, Replacement } from './replacement.ts';

/**
 * Puts a backup in the place of what a collection holds.
 *
 * @throws {BackupError} `backup_damaged`
 */
export async function restore(host: ReplaceHost, snapshot: Snapshot): Promise<void> {
  const { name, type } = host.context.settings;
  checkFormat(name, snapshot.format);
  if (snapshot.type !== type) throw typeMismatch(name, snapshot.type, type);
  const replacing = new Replacement(host);
  await bring(replacing, snapshot);
  await host.saves.alone(() => replacing.write());
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
