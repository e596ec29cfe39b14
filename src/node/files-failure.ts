import { StorageError } from '../errors/errors.ts';
import { storageFull } from '../storage/drivers/storage-failure.ts';

/**
 * What systems and LevelDB say of a full disk, a quota, or the largest file that a process may
 * write.
 */
const FULL = /ENOSPC|EDQUOT|EFBIG|no space left|quota exceeded|file too large|disk (is )?full/i;
const FORBIDDEN = /EACCES|EPERM|EROFS|permission denied|read-only|not permitted|access is denied/i;
/** What LevelDB says of a file of its own that is gone, or shorter than it was. */
const LOST =
  /^(IO error|NotFound): .*(No such file|Invalid argument|cannot find the file|end of the file)/i;
/** What LevelDB says of a folder without the file that names the others. */
const INCOMPLETE = /does not exist \(create_if_missing is false\)/;
/** A path that is none, or leads through a file. */
const NO_DIRECTORY = /ENOTDIR|EEXIST|ENOENT|ELOOP|ENAMETOOLONG|not a directory/;

/**
 * The typed error for a failure of the file system or of LevelDB.
 *
 * @param folder The folder of the database.
 */
export function filesErrorOf(failure: unknown, doing: string, folder: string): StorageError {
  if (failure instanceof StorageError) return failure;
  // An opening that fails has its reason as a cause.
  const { cause = failure } = (failure ?? {}) as { cause?: unknown };
  const { code = '', message = '' } = (cause ?? {}) as { code?: string; message?: string };
  const said = `Storage in "${folder}" failed while ${doing} (${message || String(cause)}).`;
  if (code === 'LEVEL_LOCKED') return filesLocked(folder, cause);
  if (INCOMPLETE.test(message)) return filesDamaged(folder, 'the file CURRENT is lost', cause);
  if (/^Corruption/.test(message) || LOST.test(message))
    return filesDamaged(folder, message, cause);
  if (FULL.test(`${code} ${message}`)) return storageFull(said, cause);
  if (doing === 'opening' && (FORBIDDEN.test(`${code} ${message}`) || NO_DIRECTORY.test(code)))
    return new StorageError(
      'directory_unusable',
      `${said} Give files() a directory in which this process may make folders and write.`,
      { place: folder, cause },
    );
  return new StorageError('storage_failed', said, { cause });
}

export function filesLocked(folder: string, cause?: unknown): StorageError {
  return new StorageError(
    'database_busy',
    `The database in "${folder}" is open in another process, in another thread of this one, or by another copy of cairndb. One process has it at a time: end the other, or send it your requests. Then connect again.`,
    { place: folder, cause },
  );
}

/** LevelDB goes on with files that have no name any more, and stores in them what is gone. */
export function filesGone(folder: string): StorageError {
  return new StorageError(
    'database_destroyed',
    `The database in "${folder}" was deleted or moved while it was open. Connect again to start with an empty one, or move it back before.`,
    { place: folder },
  );
}

export function filesDamaged(folder: string, what: string, cause?: unknown): StorageError {
  return new StorageError(
    'data_damaged',
    `The database in "${folder}" is damaged: ${what}. Nothing was changed. Copy the folder, then restore a backup, or let ClassicLevel.repair() of classic-level save what is intact.`,
    { place: folder, cause },
  );
}

/** @param what What was found there. */
export function filesForeign(folder: string, what: string): StorageError {
  return new StorageError(
    'data_foreign',
    `"${folder}" is no database of cairndb: it has ${what}. Nothing was changed. Give files() another directory, or move that away.`,
    { place: folder },
  );
}

export function filesNewer(folder: string, format: unknown): StorageError {
  return new StorageError(
    'format_newer',
    `The database in "${folder}" was written by a newer version of cairndb (format ${format}): update cairndb here.`,
    { place: folder },
  );
}

export function driverMissing(cause: unknown): StorageError {
  const { message } = (cause ?? {}) as { message?: string };
  return new StorageError(
    'driver_missing',
    `files() needs the package classic-level, which could not be loaded (${message ?? String(cause)}). Install it: npm install classic-level. A bundler has to leave it out ("external"), as it has native code.`,
    { cause },
  );
}
