import { CairnError } from './cairn-error.ts';

/** Codes of {@link StorageError}. */
export type StorageErrorCode =
  | 'storage_unavailable'
  | 'storage_full'
  | 'storage_lost'
  | 'storage_failed'
  | 'storage_timeout'
  | 'storage_moved'
  | 'directory_unusable'
  | 'driver_missing'
  | 'storage_evicted'
  | 'database_busy'
  | 'database_taken'
  | 'database_destroyed'
  | 'format_newer'
  | 'encryption_unavailable'
  | 'key_missing'
  | 'key_not_derived'
  | 'key_wrong'
  | 'not_encrypted'
  | 'data_damaged'
  | 'data_foreign';

/** Storage could not be opened, read or written. */
export class StorageError extends CairnError<StorageErrorCode> {
  static {
    this.prototype.name = 'StorageError';
  }
}
