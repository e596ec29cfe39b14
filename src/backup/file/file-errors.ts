import { BackupError } from '../../errors/errors.ts';
import { MAX_BINARY, MAX_LINE } from './file-contents.ts';

const REMEDY = 'Take another copy of the file, or export again.';

export function notGzip(what: string): BackupError {
  const message = `${what}. Backup files are gzip: give the file as it was saved, not unpacked.`;
  return new BackupError('file_not_gzip', message, { place: 'file' });
}

export function notCairn(cause?: unknown): BackupError {
  const message = 'This gzip file is no backup of cairndb. Choose another file.';
  return new BackupError('file_not_cairn', message, { place: 'line 1', cause });
}

export function newerFormat(
  number: number,
  supported: number,
  version: unknown,
  place: string,
): BackupError {
  const writer = typeof version === 'string' ? `cairndb ${version}` : 'a later cairndb';
  const message =
    `The file was written by ${writer}, in format ${number}; this version reads formats up to ${supported}. ` +
    'Update cairndb, or import the file where it was exported.';
  return new BackupError('file_newer', message, { place });
}

export function truncated(cause?: unknown): BackupError {
  const message = `The end of the file is missing. ${REMEDY}`;
  return new BackupError('file_truncated', message, { place: 'file', cause });
}

/** @param defect A clause that names the defect. */
export function fileDamaged(place: string, defect: string, cause?: unknown): BackupError {
  const message = `The file is damaged in ${place}: ${defect}. ${REMEDY}`;
  return new BackupError('file_damaged', message, { place, cause });
}

/** @param place The document or the line. */
export function lineTooLong(place: string): BackupError {
  const message =
    `${place} takes more than ${MAX_LINE / 2 ** 20} MB, the limit of one document in a file. ` +
    'Keep long texts in a Blob, and binary data in a Blob or an ArrayBuffer: those do not count.';
  return new BackupError('record_too_large', message, { place });
}

/** @param place The document or the line. */
export function binaryTooLarge(place: string): BackupError {
  const message =
    `${place} has more than ${MAX_BINARY / 2 ** 30} GB of binary data, the limit of one document in a file. ` +
    'Split it into several documents.';
  return new BackupError('record_too_large', message, { place });
}
