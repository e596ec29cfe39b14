import { TransactionError } from '../../errors/errors.ts';
import type { CommonCalls } from '../calls/common-calls.ts';
import type { HandleCalls, Runtime } from '../calls/runtime.ts';
import { CollectionHandle } from '../collections/collection-handle.ts';
import type { CollectionOwner } from '../collections/collection-owner.ts';
import type { ActiveTransaction } from './active-transaction.ts';
import { transactionMethods } from './transaction-calls.ts';
import type { Transaction } from './transaction-types.ts';

/** What the caller's function gets. */
export function scopeOf(
  owner: CollectionOwner,
  runtime: Runtime,
  transaction: ActiveTransaction,
): Transaction {
  // Mostly several calls in a row are on one collection.
  let last: unknown;
  let lastMethods: object | undefined;
  const scope = (collection: unknown) => {
    if (lastMethods && collection === last) return lastMethods;
    const opened = opening(owner, runtime, collection);
    last = collection;
    lastMethods = transactionMethods(
      collection as CollectionHandle<never, never>,
      opened,
      transaction,
    );
    return lastMethods;
  };
  return scope as unknown as Transaction;
}

/** The calls of a collection's handle. @throws {TransactionError} `transaction_misused` */
export function opening(
  owner: CollectionOwner,
  runtime: Runtime,
  collection: unknown,
): HandleCalls<CommonCalls> {
  if (!(collection instanceof CollectionHandle)) {
    const message = 'tx takes a collection: tx(users).insert(…).';
    throw new TransactionError('transaction_misused', message, { place: 'tx' });
  }
  const opened = CollectionHandle.openedBy(owner, runtime, collection);
  if (opened) return opened;
  const { name } = collection;
  throw new TransactionError(
    'transaction_misused',
    `Collection "${name}" belongs to another database or connection: construct it with the one that has the transaction.`,
    { place: name },
  );
}
