import { StorageError, type StorageErrorCode } from '../../errors/errors.ts';

/** @param said What failed, as a sentence. */
export function storageFull(said: string, cause: unknown): StorageError {
  return new StorageError(
    'storage_full',
    `${said} There is no room left: free space or delete documents. Unsaved changes are kept in memory and saved again later.`,
    { cause },
  );
}

/**
 * The typed error for a failure of IndexedDB. Browsers name their failures loosely: a full disk is
 * a QuotaExceededError, an UnknownError with a telling message, or Chromium's DataError for Blobs,
 * a lost connection an UnknownError in WebKit and an InvalidStateError elsewhere.
 */
export function storageErrorOf(cause: unknown, doing: string): StorageError {
  if (cause instanceof StorageError) return cause;
  const { name, message } = cause as { name?: string; message?: string };
  const said = `IndexedDB failed while ${doing} (${name}: ${message}).`;
  const is = (code: StorageErrorCode, remedy: string) =>
    new StorageError(code, `${said} ${remedy}`, { cause });
  if (
    name === 'QuotaExceededError' ||
    /NO_SPACE|disk (is )?full|Failed to write blobs/i.test(message ?? '')
  )
    return storageFull(said, cause);
  if (name === 'VersionError')
    return is(
      'format_newer',
      'The database was written by a newer version of cairndb: update this app.',
    );
  if (
    /^Security|^NotAllowed|^NotSupported/.test(name ?? '') ||
    // Chromium, where the user blocks cookies: an UnknownError that no other try would mend.
    (doing === 'opening' && /^InvalidState|^Type|denied permission/.test(`${name}: ${message}`))
  )
    return is('storage_unavailable', 'This browser lets no site store data here.');
  if (
    name === 'InvalidStateError' ||
    /connection .*lost|closing|was terminated/i.test(message ?? '')
  )
    return is('storage_lost', 'The connection was lost; reload when it stays so.');
  return new StorageError('storage_failed', said, { cause });
}
