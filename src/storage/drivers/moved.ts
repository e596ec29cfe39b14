import { StorageError } from '../../errors/storage-error.ts';
import type { StorageKey, StorageOperation } from './driver.ts';

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

export function movedTo(to: Moved['to'], epoch: number): StorageOperation {
  return { type: 'put', store: 'leadership', key: MOVED_KEY, value: { to, epoch } };
}

export function storageMoved({ to }: Moved): StorageError {
  return new StorageError(
    'storage_moved',
    `The data of this database is in storage '${to}'. Connect with storage: '${to}' in a browser that has it, or move it back with migrateStorage().`,
  );
}
