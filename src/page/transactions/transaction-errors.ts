import { CollectionError, TransactionError } from '../../errors/errors.ts';

/** A call of `tx`. */
export interface TransactionCall {
  readonly collection: string;
  readonly method: string;
  /** Its first argument. */
  readonly first: unknown;
}

/** The error of a call after the end. @param isSync Of `transactionSync`. */
export function over(isSync: boolean): TransactionError {
  const advice = isSync ? 'call tx only' : 'await every call of tx';
  const message = `The transaction has ended: ${advice} inside its function.`;
  return new TransactionError('transaction_over', message);
}

/**
 * The error after too many conflicts.
 *
 * @param collections That were used: which of them was changed, the engine does not say.
 * @param cause Why the last run had to be repeated, where it is known before the commit.
 */
export function exhausted(
  runs: number,
  collections: ReadonlySet<string>,
  cause: TransactionError | undefined,
): TransactionError {
  if (cause?.code === 'transaction_expired') return cause;
  const when = runs === 1 ? 'while it ran' : `during each of its ${runs} runs`;
  return new TransactionError(
    'transaction_conflict',
    `Others changed what the transaction had read of ${named(collections)} ${when}; nothing was changed. Read less, or raise ` +
      '`retries`. A call of the collection itself, or another transaction, inside of the function conflicts each time: use tx.',
    { place: placeOf(collections), cause },
  );
}

/** The error of a function that returns while a call runs. */
export function notAwaited({ collection, method, first }: TransactionCall): TransactionError {
  const isKey = [first]
    .flat()
    .every((part) => typeof part === 'string' || typeof part === 'number');
  const given = isKey ? JSON.stringify(first).slice(0, 80) : '';
  return new TransactionError(
    'transaction_misused',
    `The function returned before ${method}(${given}) of collection "${collection}" had ended; nothing was changed. Await every call of tx.`,
    { place: collection },
  );
}

/**
 * The error of a `transactionSync` whose commit was refused: in one turn nobody else can have
 * changed what it read.
 */
export function conflictInside(collections: ReadonlySet<string>): TransactionError {
  const message =
    `A call of ${named(collections)} itself, or another transaction, inside of the function changed what it had read; ` +
    'nothing was changed. Use tx for every call.';
  return new TransactionError('transaction_conflict', message, { place: placeOf(collections) });
}

function named(collections: ReadonlySet<string>): string {
  const names = Array.from(collections, (name) => `"${name}"`).join(' or ');
  return `collection ${names}`;
}

/** An error of `collection.sync` as one of `transactionSync`; other errors stay as they are. */
export function asTransactionSync(error: unknown): unknown {
  if (!(error instanceof CollectionError) || error.code !== 'sync_unavailable') return error;
  const { message, place } = error;
  const why = message.replace(/^collection\.sync( of ".*")?( cannot be used( here)?)?: /s, '');
  if (why === message) return error;
  const what = place === undefined ? 'be used' : `use collection "${place}"`;
  return new CollectionError(
    'sync_unavailable',
    `transactionSync cannot ${what}: ${why} Or use db.transaction().`,
    { place, cause: error },
  );
}

function placeOf(collections: ReadonlySet<string>): string {
  return [...collections].join(', ');
}
