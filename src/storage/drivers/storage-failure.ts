import { StorageError } from '../../errors/errors.ts';

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
  if (
    name === 'QuotaExceededError' ||
    /NO_SPACE|disk (is )?full|Failed to write blobs/i.test(message ?? '')
  ) {
    return storageFull(said, cause);
  }
  if (name === 'VersionError') {
    return new StorageError(
      'format_newer',
      `${said} The database was written by a newer version of cairndb: update this app.`,
      { cause },
    );
  }
  if (
    /^Security|^NotAllowed|^NotSupported/.test(name ?? '') ||
    // Chromium, where the user blocks cookies: an UnknownError that no other try would mend.
    (doing === 'opening' && /^InvalidState|^Type|denied permission/.test(`${name}: ${message}`))
  ) {
    return new StorageError(
      'storage_unavailable',
      `${said} This browser lets no site store data here.`,
      {
        cause,
      },
    );
  }
  if (
    name === 'InvalidStateError' ||
    /connection .*lost|closing|was terminated/i.test(message ?? '')
  ) {
    return new StorageError(
      'storage_lost',
      `${said} The connection was lost; reload when it stays so.`,
      {
        cause,
      },
    );
  }
  return new StorageError('storage_failed', said, { cause });
}
