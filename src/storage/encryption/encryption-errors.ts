import { StorageError } from '../../errors/errors.ts';

/** @param why A clause. */
export function keyWrong(why: string, cause?: unknown): StorageError {
  return new StorageError('key_wrong', `The key does not open this database: ${why}.`, { cause });
}

/** @param what A clause: what is damaged. */
export function sealDamaged(what: string, cause?: unknown): StorageError {
  return new StorageError(
    'data_damaged',
    `${what}: it was damaged, or changed by something without the key. verify() lists the damage and the intact backups, loadBackup() restores one.`,
    { cause },
  );
}

export function keyRecordDamaged(why: string, cause?: unknown): StorageError {
  return new StorageError(
    'data_damaged',
    `The key record of the database is damaged (${why}). Without it no key opens the data: restore it from a backup file.`,
    { cause },
  );
}

/** WebCrypto is missing where a page is not secure. */
export function webCrypto(): SubtleCrypto {
  const { subtle } = (globalThis.crypto ?? {}) as Partial<Crypto>;
  if (subtle) return subtle;
  throw new StorageError(
    'encryption_unavailable',
    'Encryption needs crypto.subtle, which browsers have in secure contexts only: serve the page by https, or from localhost.',
  );
}
