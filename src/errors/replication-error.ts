import { CairnError, type CairnErrorDetails } from './errors.ts';

/** Codes of {@link ReplicationError}. */
export type ReplicationErrorCode =
  /** The collection replicates with another remote already. */
  | 'remote_mismatch'
  /** Another page has replicated meanwhile. */
  | 'checkpoint_moved'
  | 'not_replicated'
  /** The replication was stopped. */
  | 'replication_stopped'
  /** `settled()` waited for its timeout. */
  | 'settled_timeout'
  /** The resolver threw, or returned no document. */
  | 'resolver_failed'
  /** The server cannot be reached. */
  | 'remote_offline'
  /** The server did not answer in time. */
  | 'remote_timeout'
  /** 401: the credentials are missing or have expired. */
  | 'remote_unauthorized'
  /** 403 */
  | 'remote_forbidden'
  /** 413: the request is too large. */
  | 'remote_too_large'
  /** 400, 404, 409, 422 …: the server does not accept the request. */
  | 'remote_refused'
  /** 429, 5xx: the server fails for now. */
  | 'remote_failed'
  /** The answer is not what the protocol says. */
  | 'answer_invalid'
  /** A file is not what its document says: it has another size or SHA-256. */
  | 'file_damaged'
  /** An encrypted document needs a key that this device does not have. */
  | 'key_unknown'
  /** An encrypted document was changed, cut or swapped, or is not encrypted. */
  | 'seal_broken'
  /** The server has sent an older state of an encrypted document again. */
  | 'seal_replayed'
  /**
   * Another program has lost or changed what stands for a value outside JSON, only told by the
   * event `invalid`.
   */
  | 'value_lost';

/** Details of a {@link ReplicationError}. */
export interface ReplicationErrorDetails extends CairnErrorDetails {
  /** Milliseconds after which the server wants to be asked again. */
  readonly retry_after?: number | undefined;
}

/**
 * A collection cannot be replicated as asked, or for now; `place` is the collection, or the
 * document.
 */
export class ReplicationError extends CairnError<ReplicationErrorCode> {
  static {
    this.prototype.name = 'ReplicationError';
  }

  readonly retry_after: number | undefined;

  constructor(
    code: ReplicationErrorCode,
    message: string,
    { retry_after, ...details }: ReplicationErrorDetails = {},
  ) {
    super(code, message, details);
    this.retry_after = retry_after;
  }
}
