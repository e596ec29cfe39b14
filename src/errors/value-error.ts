import { CairnError } from './cairn-error.ts';

/** Codes of {@link ValueError}. */
export type ValueErrorCode =
  | 'document_invalid'
  | 'value_unsupported'
  | 'value_cyclic'
  | 'value_too_deep'
  | 'key_forbidden'
  | 'id_invalid'
  | 'id_taken'
  | 'unique_violation'
  | 'update_invalid';

/** A document, value, id or key cannot be stored; `place` is the path of the invalid part. */
export class ValueError extends CairnError<ValueErrorCode> {
  static {
    this.prototype.name = 'ValueError';
  }
}
