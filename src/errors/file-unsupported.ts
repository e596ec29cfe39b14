import { BackupError } from './backup-error.ts';

/** @param what Something that the browser lacks and a file needs. */
export function fileUnsupported(what: string): BackupError {
  const message = `The file needs ${what}, and this browser has none. Use a newer browser.`;
  return new BackupError('file_unsupported', message, { place: what });
}
