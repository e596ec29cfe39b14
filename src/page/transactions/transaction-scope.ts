import { TransactionError } from '../../errors/errors.ts';
import type { CommonCalls } from '../calls/common-calls.ts';
import type { HandleCalls, Runtime } from '../calls/runtime.ts';
import { CollectionHandle } from '../collections/collection-handle.ts';
import type { CollectionOwner } from '../collections/collection-owner.ts';
import type { ActiveTransaction } from './active-transaction.ts';
import { TransactionDocuments } from './transaction-documents.ts';
import { TransactionKeyValues } from './transaction-key-values.ts';
import type { Transaction } from './transaction-types.ts';

/** What the caller's function gets. */
export function scopeOf(
  owner: CollectionOwner,
  runtime: Runtime,
  transaction: ActiveTransaction,
): Transaction {
  // Mostly several calls in a row are on one collection.
  let last: unknown;
  let lastCalls: TransactionDocuments<never> | TransactionKeyValues | undefined;
  const scope = (collection: unknown) => {
    if (lastCalls && collection === last) return lastCalls;
    const { name, type, opened } = opening(owner, runtime, collection);
    last = collection;
    lastCalls =
      type === 'DOCUMENT_BASED'
        ? new TransactionDocuments(opened as never, transaction, name)
        : new TransactionKeyValues(opened as never, transaction, name);
    return lastCalls;
  };
  return scope as unknown as Transaction;
}

/** A collection with the calls of its handle. @throws {TransactionError} `transaction_misused` */
export function opening(
  owner: CollectionOwner,
  runtime: Runtime,
  collection: unknown,
): { name: string; type: string; opened: HandleCalls<CommonCalls> } {
  if (!(collection instanceof CollectionHandle)) {
    const message = 'tx takes a collection: tx(users).insert(…).';
    throw new TransactionError('transaction_misused', message, { place: 'tx' });
  }
  const { name, type } = collection;
  const opened = CollectionHandle.openedBy(owner, runtime, collection);
  if (opened) return { name, type, opened };
  throw new TransactionError(
    'transaction_misused',
    `Collection "${name}" belongs to another database or connection: construct it with the one that has the transaction.`,
    { place: name },
  );
}
