import { CairnError } from '../../errors/cairn-error.ts';
import { TargetError, type TargetErrorCode } from './target-error.ts';

/** The errors of file systems and of `fetch`, by their names in the web platform. */
const CODES: Readonly<Record<string, TargetErrorCode>> = {
  QuotaExceededError: 'target_full',
  NotAllowedError: 'target_denied',
  SecurityError: 'target_denied',
  NoModificationAllowedError: 'target_denied',
};

/** The typed error of a failed call. Errors of other families stay as they are: that of a wrong key, say. */
export function asTargetError(cause: unknown, place: string): CairnError {
  if (cause instanceof CairnError) return cause;
  const { name = '', message = String(cause) } = (cause ?? {}) as Partial<Error>;
  const code = CODES[name] ?? 'target_unreachable';
  return new TargetError(code, `${SAYS[code]} (${message}).`, { place, cause });
}

const SAYS: Readonly<Partial<Record<TargetErrorCode, string>>> = {
  target_full: 'The target has no room left: make room, or let backups expire earlier',
  target_denied: 'The target may not be used: ask for permission again, in a click',
  target_unreachable: 'The target cannot be reached',
};
