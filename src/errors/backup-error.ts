import { CairnError } from './cairn-error.ts';

/** Codes of {@link BackupError}. */
export type BackupErrorCode = 'backup_unknown' | 'backup_damaged';

/** A backup is not there, or cannot be read. The collection is as it was. */
export class BackupError extends CairnError<BackupErrorCode> {
  static {
    this.prototype.name = 'BackupError';
  }
}
