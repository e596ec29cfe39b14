import { TransactionError } from '../../errors/transaction-error.ts';

/** A call of `tx`. */
export interface TransactionCall {
  readonly collection: string;
  readonly method: string;
  /** Of the document or key, if it takes one. */
  readonly id: unknown;
}

/** The error of a call after the end. */
export function over(): TransactionError {
  return new TransactionError(
    'transaction_over',
    'The transaction has ended: await every call of tx inside its function.',
  );
}

/** The error of a function that returns while a call runs. */
export function notAwaited({ collection, method, id }: TransactionCall): TransactionError {
  const given = id === undefined ? '' : (JSON.stringify(id) ?? '').slice(0, 80);
  return new TransactionError(
    'transaction_misused',
    `The function returned before ${method}(${given}) of collection "${collection}" had ended; nothing was changed. Await every call of tx.`,
    { place: collection },
  );
}

/** The error of a `transactionSync` whose commit was refused: in one turn nobody else can have changed what it read. */
export function conflictInside(collections: ReadonlySet<string>): TransactionError {
  const message =
    `A call of ${named(collections)} itself, or another transaction, inside of the function changed what it had read; ` +
    'nothing of the transaction was changed. Use tx for every call.';
  return new TransactionError('transaction_conflict', message, { place: placeOf(collections) });
}

function named(collections: ReadonlySet<string>): string {
  const names = Array.from(collections, (name) => `"${name}"`).join(' or ');
  return `collection ${names}`;
}

/** Which of them was changed, the engine does not say. */
function placeOf(collections: ReadonlySet<string>): string {
  return [...collections].join(', ');
}
