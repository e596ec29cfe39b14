import { CairnError } from './cairn-error.ts';

/** Codes of {@link CriteriaError}. */
export type CriteriaErrorCode =
  | 'after_unknown'
  | 'criteria_invalid'
  | 'operator_unknown'
  | 'operand_invalid'
  | 'pattern_too_long'
  | 'predicate_async'
  | 'select_invalid'
  | 'sort_invalid'
  | 'subject_too_long';

/** Criteria, a sort, a selection or a predicate is invalid; `place` is the path inside it. */
export class CriteriaError extends CairnError<CriteriaErrorCode> {
  static {
    this.prototype.name = 'CriteriaError';
  }
}

/** Names the collection in the message of a {@link CriteriaError}, once; other errors stay as they are. */
export function nameCollection(error: unknown, collection: string): unknown {
  const prefix = `Collection "${collection}": `;
  if (!(error instanceof CriteriaError) || error.message.startsWith(prefix)) return error;
  const { message, stack } = error;
  error.message = prefix + message;
  // The stack contains the old message.
  if (stack) error.stack = stack.replace(message, () => error.message);
  return error;
}
