import type { Snapshot } from '../../backup/snapshot.ts';
import type { CollectionBackups } from '../backups/collection-backups.ts';
import { checkSnapshot } from '../backups/restore.ts';
import { otherVersion } from '../collection-errors.ts';
import type { CollectionContext } from '../collections/collection-context.ts';

/**
 * Finds a backup whose documents code of a version can read.
 *
 * @throws {BackupError} `backup_unknown`; {CollectionError} `schema_newer`, `schema_older`, `type_mismatch`; {StorageError} `format_newer`
 */
export async function findReadable(
  context: CollectionContext,
  { snapshots }: CollectionBackups,
  name: string,
  own: number,
): Promise<Snapshot> {
  const snapshot = await snapshots.find(name);
  checkSnapshot(context, snapshot);
  const { version = 1 } = snapshot;
  if (version === own) return snapshot;
  throw otherVersion(context.settings.name, version, own, `backup "${name}"`);
}
