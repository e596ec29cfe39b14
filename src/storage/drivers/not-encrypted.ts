import { StorageError } from '../../errors/errors.ts';

/** A key is given for a database that has none. Apart: the core of the engine never says it. */
export function notEncrypted(): StorageError {
  return new StorageError(
    'not_encrypted',
    'This database is not encrypted, so it is not opened with a key; nothing was changed. Open it without encrypted(), exportAll(), and importAll() the file into an encrypted database of another name. If it is encrypted, a client without a key is open: close that.',
  );
}
