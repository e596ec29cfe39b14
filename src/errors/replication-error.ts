import { CairnError } from './cairn-error.ts';

/** Codes of {@link ReplicationError}. */
export type ReplicationErrorCode = 'checkpoint_moved' | 'not_replicated' | 'remote_mismatch';

/** A collection cannot be replicated as asked; `place` is the collection, or the document. */
export class ReplicationError extends CairnError<ReplicationErrorCode> {
  static {
    this.prototype.name = 'ReplicationError';
  }
}
