import { CairnError } from './cairn-error.ts';

/** Codes of {@link BackupError}. */
export type BackupErrorCode =
  | 'file_not_gzip'
  | 'file_not_cairn'
  | 'file_newer'
  | 'file_truncated'
  | 'file_damaged'
  | 'file_unsupported'
  | 'record_too_large';

/** A backup, or the file of one, cannot be read or written; `place` is the line or the document. */
export class BackupError extends CairnError<BackupErrorCode> {
  static {
    this.prototype.name = 'BackupError';
  }
}
