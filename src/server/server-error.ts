import { CairnError, type CairnErrorDetails } from '../errors/errors.ts';

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
