import { CairnError } from '../../errors/cairn-error.ts';

/** Codes of {@link TargetError}. */
export type TargetErrorCode =
  /** No answer in time, no connection, or the server fails for now. */
  | 'target_unreachable'
  /** The credentials are wrong, or the permission for the folder is missing. */
  | 'target_denied'
  /** There is no room left. */
  | 'target_full'
  /** The target does not accept the request, or answers with something else. */
  | 'target_refused'
  /** A backup, or a part of one, is missing or changed. */
  | 'target_damaged'
  /** What is stored under the name of a backup is none. */
  | 'target_foreign'
  /** A later version of cairndb wrote the backup. */
  | 'target_newer'
  /** The backups to the target were stopped. */
  | 'target_stopped';

/** Backups elsewhere cannot be written or read, for now or as asked; `place` is a path, a URL or a backup. */
export class TargetError extends CairnError<TargetErrorCode> {
  static {
    this.prototype.name = 'TargetError';
  }
}
