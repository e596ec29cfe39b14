import { BackupError } from './backup-error.ts';

/** @param what The feature that the browser lacks. */
export function fileUnsupported(what: string): BackupError {
  const message = `The file needs ${what}, which this browser lacks. Use a newer browser.`;
  return new BackupError('file_unsupported', message, { place: what });
}
