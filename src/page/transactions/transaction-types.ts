import type { Shared, Stamp } from '../../api/document-types.ts';
import type { DocumentMethods } from '../calls/document-methods.ts';
import type { KeyValueMethods } from '../calls/key-value-methods.ts';
import type { DocumentCollection } from '../collections/document-collection.ts';
import type { KeyValueCollection } from '../collections/key-value-collection.ts';
import type { SyncDocuments, SyncKeyValues } from '../collections/sync-methods.ts';

/**
 * A collection of documents in a transaction. Reads see the snapshot of the transaction and its own
 * changes. The methods are those of {@link DocumentCollection}, without `modify`, `each`,
 * `explain`, live queries, backups, `verify`, `save` and `Drop`. In place of `modify` use `get` and
 * `update`. Unique indexes are checked by the commit.
 */
export interface TransactionDocuments<
  T extends object,
  S extends Stamp = never,
  I extends object = T,
> extends Omit<DocumentMethods<T, S, I, 'async'>, 'modify'> {}

/**
 * A collection of keys and values in a transaction. Reads see the snapshot of the transaction and
 * its own changes. The methods are those of {@link KeyValueCollection}, without `modify`, backups,
 * `verify`, `save` and `Drop`. In place of `modify` use `get` and `set`.
 */
export interface TransactionKeyValues<V = unknown>
  extends Omit<KeyValueMethods<V, 'async'>, 'modify'> {}

/**
 * A running transaction: a function that takes a collection, and has its methods as the transaction
 * sees it. Calls on the collection itself are outside of the transaction. What it returns are
 * copies, with `shared_documents` too.
 *
 * @throws {TransactionError} `transaction_misused` for a collection of another client.
 */
export interface Transaction {
  <T extends object, S extends Stamp, I extends object>(
    collection: DocumentCollection<T, S, I>,
  ): TransactionDocuments<T, Exclude<S, Shared>, I>;
  <V>(collection: KeyValueCollection<V>): TransactionKeyValues<V>;
}

/** Makes a function that returns promises a type error. */
export type NotAsync<T> = T extends PromiseLike<unknown> ? never : unknown;

/** The {@link Transaction} of `transactionSync`: its methods return values, not promises. */
export interface SyncTransaction {
  <T extends object, S extends Stamp, I extends object>(
    collection: DocumentCollection<T, S, I>,
  ): SyncDocuments<T, Exclude<S, Shared>, I>;
  <V>(collection: KeyValueCollection<V>): SyncKeyValues<V>;
}
