import { ServerError } from '../server-error.ts';
import type { StoreResult } from '../store.ts';

/** The SQLSTATE of an error of a driver, or the code of its network; empty for other errors. */
function codeOf(error: unknown): string {
  const { code } = (typeof error === 'object' && error !== null ? error : {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
}

/** Raised by a trigger of the application, whose message is for the user. */
const RAISED = 'P0001';

/** Whether the database refuses the data: constraints, triggers, limits. A retry would fail again. */
export function isRefusal(error: unknown): boolean {
  return /^(?:22|23|54)...$/.test(codeOf(error)) || codeOf(error) === RAISED;
}

/** Whether Postgres ended the statement in favour of another: serialization failure, deadlock. */
export function isRetryable(error: unknown): boolean {
  return ['40001', '40P01'].includes(codeOf(error));
}

/** The result of a row that the database refuses. */
export function refusalOf(error: unknown): StoreResult {
  const code = codeOf(error);
  const reason =
    code === RAISED ? (error as Error).message : `The database refuses it (SQLSTATE ${code}).`;
  return { rejected: { reason } };
}

/** Seconds until a server that restarts, or has no connection left, may answer. */
const RETRY_AFTER = 2;

/** Names a failure that passes; other errors stay as they are. */
export function failureOf(error: unknown): unknown {
  if (!/^(?:08...|53...|57P..|ECONN\w+|EPIPE|ETIMEDOUT|ENOENT)$/.test(codeOf(error))) return error;
  return new ServerError('store_unavailable', 'Postgres does not answer now.', {
    retryAfter: RETRY_AFTER,
    cause: error,
  });
}
