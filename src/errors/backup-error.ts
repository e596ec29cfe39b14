import { CairnError } from './cairn-error.ts';

/** Codes of {@link BackupError}. */
export type BackupErrorCode =
  | 'backup_unknown'
  | 'backup_damaged'
  | 'document_unknown'
  | 'view_closed'
  | 'export_lost'
  | 'import_lost'
  | 'file_several'
  | 'file_not_gzip'
  | 'file_not_cairn'
  | 'file_newer'
  | 'file_truncated'
  | 'file_damaged'
  | 'file_stalled'
  | 'file_unsupported'
  | 'record_too_large';

/**
 * A backup or its file is missing, or cannot be read or written; `place` is the collection, the line or the document.
 * The collection is unchanged.
 */
export class BackupError extends CairnError<BackupErrorCode> {
  static {
    this.prototype.name = 'BackupError';
  }
}

/** @param what The feature that the browser lacks. */
export function fileUnsupported(what: string): BackupError {
  const message = `The file needs ${what}, which this browser lacks. Use a newer browser.`;
  return new BackupError('file_unsupported', message, { place: what });
}
