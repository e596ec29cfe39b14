import { CairnError } from './cairn-error.ts';

/** Codes of {@link TransactionError}. */
export type TransactionErrorCode = 'transaction_conflict';

/** A change that depends on what was read could not be made; `place` is the document or key. */
export class TransactionError extends CairnError<TransactionErrorCode> {
  static {
    this.prototype.name = 'TransactionError';
  }
}
