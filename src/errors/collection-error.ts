import { CairnError } from './cairn-error.ts';

/** Codes of {@link CollectionError}. */
export type CollectionErrorCode =
  | 'type_mismatch'
  | 'drop_disabled'
  | 'collection_dropped'
  | 'collection_renamed'
  | 'collection_missing'
  | 'name_taken'
  | 'closed'
  | 'sync_unavailable'
  | 'answer_lost'
  | 'insert_lost'
  | 'schema_newer'
  | 'schema_older';

/** The collection, or its client, is not in a state that allows the call. */
export class CollectionError extends CairnError<CollectionErrorCode> {
  static {
    this.prototype.name = 'CollectionError';
  }
}
