import { CairnError } from './cairn-error.ts';

/** Codes of {@link OptionError}. */
export type OptionErrorCode =
  | 'option_missing'
  | 'option_unknown'
  | 'option_invalid'
  | 'option_conflict';

/** An option of a client or a collection is missing, unknown, contradictory or out of range. */
export class OptionError extends CairnError<OptionErrorCode> {
  static {
    this.prototype.name = 'OptionError';
  }
}
