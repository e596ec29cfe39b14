import { CairnError } from '../../errors/errors.ts';

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

/**
 * Backups elsewhere cannot be written or read, for now or as asked; `place` is a path, a URL or a
 * backup.
 */
export class TargetError extends CairnError<TargetErrorCode> {
  static {
    this.prototype.name = 'TargetError';
  }
}

/** The errors of file systems and of `fetch`, by their names in the web platform. */
const CODES: Readonly<Record<string, TargetErrorCode>> = {
  QuotaExceededError: 'target_full',
  NotAllowedError: 'target_denied',
  SecurityError: 'target_denied',
  NoModificationAllowedError: 'target_denied',
};

const SAYS: Readonly<Partial<Record<TargetErrorCode, string>>> = {
  target_full: 'The target has no room left: make room, or let backups expire earlier',
  target_denied: 'The target may not be used: ask for permission again, in a click',
  target_unreachable: 'The target cannot be reached',
};

/** The typed error of a failed call; errors of other families stay as they are. */
export function asTargetError(cause: unknown, place: string): CairnError {
  if (cause instanceof CairnError) return cause;
  const { name = '', message = String(cause) } = (cause ?? {}) as Partial<Error>;
  const code = CODES[name] ?? 'target_unreachable';
  return new TargetError(code, `${SAYS[code]} (${message}).`, { place, cause });
}
