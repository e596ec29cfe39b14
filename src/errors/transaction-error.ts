import { CairnError } from './cairn-error.ts';

/** Codes of {@link TransactionError}. */
export type TransactionErrorCode =
  | 'transaction_conflict'
  | 'transaction_expired'
  | 'transaction_misused'
  | 'transaction_over'
  | 'transaction_too_large';

/** A transaction, or a `modify`, could not be made; `place` is the collection, document or key. */
export class TransactionError extends CairnError<TransactionErrorCode> {
  static {
    this.prototype.name = 'TransactionError';
  }
}
