import { CairnError, type CairnErrorDetails, Malformed } from '../errors/errors.ts';
import type { ErrorAnswer } from '../replication/protocol/http-answers.ts';

/** What a server answers, beside the codes of {@link ServerError}. */
export type AnswerCode =
  | 'unauthorized'
  | 'forbidden'
  | 'route_unknown'
  | 'method_not_allowed'
  | 'content_type_unsupported'
  | 'body_too_large'
  | 'body_unreadable'
  | 'json_invalid'
  | 'message_invalid'
  | 'rows_too_many'
  | 'scope_unknown'
  | 'store_failed'
  | 'file_unknown'
  | 'file_lost'
  | 'file_too_large'
  | 'file_damaged'
  | 'range_invalid';

/** A request that gets an answer with a status of 400 or higher. */
export class RequestFailure extends Error {
  readonly status: number;
  readonly code: AnswerCode | ServerErrorCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: RequestFailure['code'],
    message: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

/** An answer in JSON that no cache keeps and no browser takes for a page. @param text JSON. */
export function answerJson(
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(text, {
    status,
    headers: {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      ...headers,
    },
  });
}

export function answerFailure({ status, code, message, headers }: RequestFailure): Response {
  const answer: ErrorAnswer = { error: { code, message } };
  return answerJson(status, JSON.stringify(answer), headers);
}

/**
 * Names an error to the client. The texts of foreign errors stay here: they may tell of the
 * database.
 */
export function toFailure(error: unknown): RequestFailure {
  if (error instanceof RequestFailure) return error;
  if (error instanceof Malformed) {
    return new RequestFailure(400, 'message_invalid', `The request is invalid: ${error.message}.`);
  }
  const { code, retryAfter }: Partial<ServerError> = error instanceof ServerError ? error : {};
  const headers: Record<string, string> =
    retryAfter === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfter)) };
  switch (code) {
    case 'checkpoint_invalid':
      return new RequestFailure(400, code, 'The checkpoint is not one of this server.');
    case 'store_busy':
      return new RequestFailure(429, code, 'The server is busy. Try again later.', headers);
    case 'store_unavailable':
      return new RequestFailure(503, code, 'The server is unavailable. Try again later.', headers);
    default:
      return new RequestFailure(503, 'store_failed', 'The server failed. Try again later.');
  }
}

/** Codes of {@link ServerError}. */
export type ServerErrorCode =
  | 'checkpoint_invalid'
  | 'store_busy'
  | 'store_unavailable'
  | 'authorize_invalid'
  /** A scope returned neither criteria nor `false`. */
  | 'scope_invalid'
  /** A filter of `authorize` threw for a document, which is hidden or refused. */
  | 'filter_failed';

/** Details of a {@link ServerError}. */
export interface ServerErrorDetails extends CairnErrorDetails {
  /** Seconds until a retry makes sense; clients get them as `Retry-After`. */
  readonly retryAfter?: number | undefined;
}

/** A store of `cairndb/server`, or what surrounds it, could not answer. */
export class ServerError extends CairnError<ServerErrorCode> {
  static {
    this.prototype.name = 'ServerError';
  }

  readonly retryAfter: number | undefined;

  constructor(code: ServerErrorCode, message: string, details: ServerErrorDetails = {}) {
    super(code, message, details);
    this.retryAfter = details.retryAfter;
  }
}
