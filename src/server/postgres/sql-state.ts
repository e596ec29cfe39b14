import { ServerError } from '../failures.ts';
import type { StoreResult } from '../store.ts';

/**
 * Runs one statement: `(text, values) => pool.query(text, values)` of pg, or the `query` of PGlite.
 */
export type Query = (
  text: string,
  values?: unknown[],
) => Promise<{ readonly rows: readonly unknown[] }>;

/** What errors of drivers and networks say of themselves. */
interface Named {
  readonly code?: unknown;
  readonly syscall?: unknown;
  readonly cause?: unknown;
}

/** The part of an error that has a code: `fetch` names the error of the network as the cause. */
function namedOf(error: unknown): Named {
  const named = (error ?? {}) as Named;
  return typeof named.code === 'string' ? named : ((named.cause ?? {}) as Named);
}

/** The SQLSTATE of an error of a driver, or the code of its network; empty for other errors. */
export function codeOf(error: unknown): string {
  const { code } = namedOf(error);
  return typeof code === 'string' ? code : '';
}

/** Raised by a trigger of the application, whose message is for the user. */
const RAISED = 'P0001';

/**
 * Whether the database refuses the data: constraints, triggers, limits. A retry would fail again.
 */
export function isRefusal(error: unknown): boolean {
  return /^(?:22|23|54)...$/.test(codeOf(error)) || codeOf(error) === RAISED;
}

/** Whether Postgres ended the statement in favour of another: serialization failure, deadlock. */
function isRetryable(error: unknown): boolean {
  return ['40001', '40P01'].includes(codeOf(error));
}

/**
 * Where transactions are serializable by default, of 20 pushes at once to a collection one is made:
 * then the others have to wait apart.
 */
const ATTEMPTS = 16;
const LONGEST_PAUSE_MS = 400;

/**
 * Runs one statement, anew while Postgres ends it in favour of others.
 *
 * @returns The column `answer` of its row; `null` where there is none.
 */
export async function answerTo(query: Query, text: string, values?: unknown[]): Promise<unknown> {
  for (let attempt = 1; ; attempt++) {
    try {
      const { rows } = await query(text, values);
      return (rows[0] as { readonly answer?: unknown } | undefined)?.answer ?? null;
    } catch (error) {
      if (attempt === ATTEMPTS || !isRetryable(error)) throw error;
      await backOff(attempt);
    }
  }
}

/** Waits before the next attempt: longer each time, and not as long as others. */
export async function backOff(attempt: number): Promise<void> {
  const longest = Math.min(LONGEST_PAUSE_MS, 5 * 2 ** attempt);
  await new Promise((resolve) => void setTimeout(resolve, Math.random() * longest));
}

/** The result of a row that the database refuses. */
export function refusalOf(error: unknown): StoreResult {
  const code = codeOf(error);
  const reason =
    code === RAISED ? (error as Error).message : `The database refuses it (SQLSTATE ${code}).`;
  return { rejected: { reason } };
}

/** Seconds until a server that restarts, has no connection left or too much to do, may answer. */
const RETRY_AFTER = 2;

/** Names a failure that passes; other errors stay as they are. */
export function sqlFailureOf(error: unknown): unknown {
  const details = { retryAfter: RETRY_AFTER, cause: error };
  if (isRetryable(error))
    return new ServerError('store_busy', 'Too many write this collection at once.', details);
  const isOutage = /^(?:08...|53...|57P..|ECONN\w+|EPIPE|ETIMEDOUT)$/.test(codeOf(error));
  // A socket in a folder, and no other file.
  if (!isOutage && namedOf(error).syscall !== 'connect') return error;
  return new ServerError('store_unavailable', 'Postgres does not answer now.', details);
}
