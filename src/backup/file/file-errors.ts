import { BackupError } from '../../errors/backup-error.ts';
import { MAX_BINARY, MAX_LINE } from './limits.ts';

const TAKE_ANOTHER = 'Take another copy of it, or export again.';

export function notGzip(what: string): BackupError {
  const message = `${what}. Files of cairndb are gzip: give one as it was saved, not unpacked.`;
  return new BackupError('file_not_gzip', message, { place: 'file' });
}

export function notCairn(cause?: unknown): BackupError {
  const message = 'This is gzip, but no file that cairndb exported. Choose another one.';
  return new BackupError('file_not_cairn', message, { place: 'line 1', cause });
}

export function newer(number: number, ours: number, version: unknown, place: string): BackupError {
  const by = typeof version === 'string' ? `cairndb ${version}` : 'a later cairndb';
  const message =
    `The file was written by ${by}, in format ${number}; this version reads formats up to ${ours}. ` +
    'Update cairndb, or import it where it was exported.';
  return new BackupError('file_newer', message, { place });
}

export function truncated(cause?: unknown): BackupError {
  const message = `The end of the file is missing. ${TAKE_ANOTHER}`;
  return new BackupError('file_truncated', message, { place: 'file', cause });
}

/** @param why A clause that names what is wrong. */
export function damaged(place: string, why: string, cause?: unknown): BackupError {
  const message = `The file is damaged in ${place}: ${why}. ${TAKE_ANOTHER}`;
  return new BackupError('file_damaged', message, { place, cause });
}

export function unsupported(what: string): BackupError {
  const message = `This needs ${what}, which this browser does not have. Use a newer one.`;
  return new BackupError('file_unsupported', message, { place: what });
}

/** @param place The document or the line. */
export function textTooLarge(place: string): BackupError {
  const message =
    `${place} takes more than the ${MAX_LINE / 2 ** 20} MB that one may have in a file. ` +
    'Keep long texts in a Blob, and binary data in a Blob or an ArrayBuffer: those do not count.';
  return new BackupError('record_too_large', message, { place });
}

/** @param place The document or the line. */
export function binaryTooLarge(place: string): BackupError {
  const message =
    `${place} has more than the ${MAX_BINARY / 2 ** 30} GB of binary data that one may have in a file. ` +
    'Take it apart into several documents.';
  return new BackupError('record_too_large', message, { place });
}
