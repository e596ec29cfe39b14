import { CairnError } from './cairn-error.ts';

/** Codes of {@link StorageError}. */
export type StorageErrorCode =
  | 'storage_unavailable'
  | 'storage_full'
  | 'storage_lost'
  | 'storage_failed'
  | 'storage_timeout'
  | 'storage_moved'
  | 'storage_evicted'
  | 'database_busy'
  | 'database_taken'
  | 'database_destroyed'
  | 'format_newer'
  | 'data_damaged';

/** Storage could not be opened, read or written. */
export class StorageError extends CairnError<StorageErrorCode> {
  static {
    this.prototype.name = 'StorageError';
  }
}
