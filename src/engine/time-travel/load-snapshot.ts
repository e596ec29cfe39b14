import type { Snapshot } from '../../backup/snapshot.ts';
import { backupDamage, checkCount } from '../backups/restore.ts';
import type { CollectionContext, OperationContext } from '../collections/collection-context.ts';
import { Loading } from '../collections/loading.ts';
import type { DocumentIndexes } from '../documents/document-indexes.ts';
import type { CollectionSettings } from '../protocol/settings.ts';
import type { RecordStore } from '../records/record-store.ts';

/**
 * Brings the records of a snapshot into memory, beside those of the collection: keys, managed values and what segments keep
 * of indexes. Bodies stay in storage. An index that a segment has no column of answers nothing.
 *
 * @returns what operations work with; it must be used for reads alone.
 * @throws {BackupError} `backup_damaged`
 */
export async function loadSnapshot(
  context: CollectionContext,
  snapshot: Snapshot,
): Promise<OperationContext> {
  const { settings, records } = context;
  const { segments, version = 1, created_at } = snapshot;
  const loading = new Loading(context, version, false);
  try {
    const states = await records.log.read(segments, (segment, hashes) =>
      loading.fold(segment, hashes),
    );
    await records.log.bodies.check(segments);
    loading.open(states);
  } catch (error) {
    throw backupDamage(snapshot, error);
  }
  const view = loading.aside();
  checkCount(snapshot, view.records.size);
  hideExpired(view, settings, created_at);
  return { ...context, ...view };
}

/** Leaves out what had expired, and was not removed yet, when the backup was made. */
function hideExpired(
  { records, indexes }: { readonly records: RecordStore; readonly indexes: DocumentIndexes },
  { expire_after: expiry }: CollectionSettings,
  time: number,
): void {
  const { expiring } = indexes;
  if (!expiry || !expiring) return;
  for (const record of records.list()) {
    const key = expiring.keyOf(record);
    if (!(key instanceof Date) || key.getTime() + expiry.seconds * 1000 > time) continue;
    indexes.delete(record);
    records.table.delete(record.key);
  }
}
