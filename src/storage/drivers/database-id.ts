import { StorageError } from '../../errors/errors.ts';
import type { StorageKey, StoragePut } from './driver.ts';

/** Where a database has its id, in the store `leadership`. */
export const DATABASE_ID: StorageKey = ['database'];

/**
 * Gives a new database its id. A database that is deleted and made anew under the same name has
 * another one, so that changes made to the old one are never applied to it.
 */
export function putDatabaseId(id = freshId()): StoragePut {
  return { type: 'put', store: 'leadership', key: DATABASE_ID, value: { id } };
}

/** No two are equal, in whichever process. */
export function freshId(): string {
  return Math.random().toString(36).slice(2) + Date.now().toString(36);
}

/**
 * Where a database that was emptied has the ids of what it held: files with such an id do not
 * count.
 */
export const DESTROYED_KEY: StorageKey = ['destroyed'];

export function destroyedIds(value: unknown): readonly string[] {
  return (value as { ids?: readonly string[] } | undefined)?.ids ?? [];
}

/** The id of a stored value; empty where a driver gives none. */
export function databaseIdOf(value: unknown): string {
  return (value as { id?: string } | undefined)?.id ?? '';
}

/** @param name Unknown to a driver. */
export function databaseDestroyed(name?: string): StorageError {
  const which = name === undefined ? 'The database' : `Database "${name}"`;
  return new StorageError(
    'database_destroyed',
    `${which} was deleted. Connect again to start with an empty one.`,
    { place: name },
  );
}

export function databaseClosed(): StorageError {
  return new StorageError('storage_lost', 'The database was closed.');
}

/** The key of the marker in `leadership` of a database that has been moved out of IndexedDB. */
export const MOVED_KEY: StorageKey = ['moved'];

/** Where the data is now. */
export interface Moved {
  readonly to: 'opfs';
  /** The epoch that the data has there at least. */
  readonly epoch: number;
}

export function isMoved(value: unknown): value is Moved {
  return value !== undefined;
}

export function storageMoved({ to }: Moved): StorageError {
  return new StorageError(
    'storage_moved',
    `The data of this database is in storage '${to}'. Connect with storage: '${to}' in a browser that has it, or move it back with migrateStorage().`,
  );
}
