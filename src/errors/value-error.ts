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
  | 'expiry_not_a_date'
  | 'update_invalid'
  | 'schema_violation';

/** Why a schema refuses a document or value, at one place. */
export interface SchemaIssue {
  /** The keys that lead to the place, such as `['items', 0, 'name']`; empty for the document or value as a whole. */
  readonly path: readonly (string | number)[];
  /** What the schema says. */
  readonly message: string;
}

/** A document, value, id or key cannot be stored; `place` is the path of the invalid part. */
export class ValueError extends CairnError<ValueErrorCode> {
  static {
    this.prototype.name = 'ValueError';
  }

  /** Of `schema_violation`: why the schema refuses the document or value. */
  declare readonly issues?: readonly SchemaIssue[];
}
