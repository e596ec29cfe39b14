import { CairnError, StorageError } from '../../errors/errors.ts';
import { storageFull } from '../drivers/storage-failure.ts';

/** The typed error for a failure of a file. */
export function fileErrorOf(cause: unknown, doing: string): StorageError {
  // That of a value which no file can hold, too.
  if (cause instanceof CairnError) return cause as StorageError;
  const { name, message } = (cause ?? {}) as { name?: string; message?: string };
  const said = `The database file failed while ${doing} (${name}: ${message}).`;
  if (name === 'QuotaExceededError' || /no.?space|disk (is )?full/i.test(message ?? ''))
    return storageFull(said, cause);
  return new StorageError('storage_failed', said, { cause });
}

/** No file can be opened here. */
export function filesUnavailable(why: string, cause?: unknown): StorageError {
  return new StorageError('storage_unavailable', `There are no database files here: ${why}.`, {
    cause,
  });
}

export function opfsFileDamaged(what: string): StorageError {
  return new StorageError(
    'data_damaged',
    `The database file is damaged: ${what}. verify() lists the damage and the intact backups, loadBackup() restores one.`,
  );
}
