import type { Shared, Stamp } from '../../api/document-types.ts';
import type { DocumentCollection } from '../collections/document-collection.ts';
import type { KeyValueCollection } from '../collections/key-value-collection.ts';
import type { SyncDocuments } from '../collections/sync-documents.ts';
import type { SyncKeyValues } from '../collections/sync-key-values.ts';
import type { TransactionDocuments } from './transaction-documents.ts';
import type { TransactionKeyValues } from './transaction-key-values.ts';

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
