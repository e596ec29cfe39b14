import { CairnError } from './cairn-error.ts';

/** Codes of {@link OptionError}. */
export type OptionErrorCode =
  | 'option_missing'
  | 'option_unknown'
  | 'option_invalid'
  | 'option_conflict'
  | 'schema_failed'
  | 'migration_gap';

/** An option of a client or a collection is missing, unknown, contradictory or out of range, or a schema that does not work. */
export class OptionError extends CairnError<OptionErrorCode> {
  static {
    this.prototype.name = 'OptionError';
  }
}
