import { SegmentVerifier } from '../../backup/segment-verifier.ts';
import type { Snapshot } from '../../backup/snapshot.ts';
import { BackupError, StorageError } from '../../errors/errors.ts';
import { typeMismatch } from '../../protocol/collection-errors.ts';
import { checkFormat } from '../../storage/log/open-log.ts';
import type { CollectionContext } from '../collection-context.ts';
import type { Replacement } from './replacement.ts';

/**
 * Puts a backup in the place of what a collection holds.
 *
 * @throws {BackupError} `backup_damaged`
 */
export async function restore(
  context: CollectionContext,
  replacing: Replacement,
  snapshot: Snapshot,
): Promise<void> {
  checkSnapshot(context, snapshot);
  await bring(context, replacing, snapshot);
  await context.saves.alone(() => replacing.write());
  await replacing.settleIn();
}

/** The error of a backup whose segments cannot be read; other errors stay. */
export function backupDamage(snapshot: Snapshot, cause: unknown): unknown {
  return isDamage(cause) ? damaged(snapshot, cause.message, cause) : cause;
}

const isDamage = (cause: unknown): cause is StorageError =>
  cause instanceof StorageError && cause.code === 'data_damaged';

/** @throws {StorageError} `format_newer`; {CollectionError} `type_mismatch` */
export function checkSnapshot({ settings }: CollectionContext, snapshot: Snapshot): void {
  const { name, type } = settings;
  checkFormat(name, snapshot.format);
  if (snapshot.type !== type) throw typeMismatch(name, snapshot.type, type);
}

/** Reads the documents too: what replaces a collection must be whole. */
async function bring(
  { storage, settings }: CollectionContext,
  replacing: Replacement,
  snapshot: Snapshot,
): Promise<void> {
  let lost: StorageError | undefined;
  try {
    if (await replacing.bringWhole(snapshot.segments)) {
      checkCount(snapshot, replacing.records.rows.length);
      return;
    }
  } catch (cause) {
    if (!isDamage(cause)) throw cause;
    lost = cause;
  }
  const verifier = new SegmentVerifier(storage, settings.name);
  const { problems } = await verifier.verify(snapshot.segments);
  throw damaged(snapshot, problems[0]?.message ?? lost?.message ?? '', lost);
}

/** @throws {BackupError} `backup_damaged` */
export function checkCount(snapshot: Snapshot, size: number): void {
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
