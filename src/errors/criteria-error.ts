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

/** Criteria or a predicate cannot be used as given; `place` is the path inside the criteria. */
export class CriteriaError extends CairnError<CriteriaErrorCode> {
  static {
    this.prototype.name = 'CriteriaError';
  }
}
