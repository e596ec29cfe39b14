import { readRetryAfter } from '../../async/retries.ts';
import {
  ReplicationError,
  type ReplicationErrorCode,
  type ReplicationErrorDetails,
} from '../../errors/replication-error.ts';

/** What a server says of a request that it does not accept. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
}

/** An answer with a status of 400 or higher. */
export class RefusedError extends ReplicationError {
  readonly status: number;
  readonly refusal: Refusal | undefined;

  constructor(
    code: ReplicationErrorCode,
    message: string,
    details: ReplicationErrorDetails & {
      readonly status: number;
      readonly refusal: Refusal | undefined;
    },
  ) {
    super(code, message, details);
    this.status = details.status;
    this.refusal = details.refusal;
  }
}

/** An answer that is larger than this client takes. */
export class OversizedAnswer extends ReplicationError {
  constructor(url: string, limit: number) {
    super('answer_invalid', `${url} answered with more than ${limit} bytes. Nothing was applied.`, {
      place: url,
    });
  }
}

/**
 * An answer that the protocol does not know. @param what A clause, such as
 * `"more" is not true or false`.
 */
export function answerInvalid(url: string, what: string, cause?: unknown): ReplicationError {
  return new ReplicationError(
    'answer_invalid',
    `The answer of ${url} is not understood: ${what}. Nothing of it was applied.`,
    { place: url, cause },
  );
}

/** The error for a status of 400 or higher. */
export function refused(
  { status, headers }: Response,
  url: string,
  refusal: Refusal | undefined,
  now: number,
): RefusedError {
  const said = refusal ? `: ${refusal.code}, ${refusal.message}` : '.';
  const message = `${url} answered with status ${status}${said}`;
  const retry_after = readRetryAfter(headers.get('retry-after'), now);
  const code = codeOf(status);
  return new RefusedError(code, message, {
    ...{ status, refusal, place: url },
    retry_after: code === 'remote_failed' ? retry_after : undefined,
  });
}

function codeOf(status: number): ReplicationErrorCode {
  if (status === 401) return 'remote_unauthorized';
  if (status === 403) return 'remote_forbidden';
  if (status === 413) return 'remote_too_large';
  if (status === 408 || status === 425 || status === 429 || status >= 500) return 'remote_failed';
  return 'remote_refused';
}

/**
 * A push to a route or database that is missing: no fault of its rows, which the next attempt sends
 * again. Other errors stay as they are.
 */
export function blameless(error: unknown): unknown {
  if (!(error instanceof RefusedError) || ![404, 405, 410].includes(error.status)) return error;
  const { message, status, refusal, place, cause } = error;
  return new RefusedError('remote_failed', message, { status, refusal, place, cause });
}
