import { signalIn } from '../../api/options/option-checks.ts';
import { type Result, run } from '../../async/coroutine.ts';
import { nameCollection, TransactionError } from '../../errors/errors.ts';
import type { CollectionSettings } from '../../protocol/settings.ts';
import type { CommonCalls } from '../calls/common-calls.ts';
import { documentMethods } from '../calls/document-methods.ts';
import { keyValueMethods } from '../calls/key-value-methods.ts';
import { addMethods, begin, type CallRules, type Start } from '../calls/methods.ts';
import type { HandleCalls, Runtime } from '../calls/runtime.ts';
import { CollectionHandle } from '../collections/collection-handle.ts';
import type { CollectionOwner } from '../collections/collection-owner.ts';
import { orAborted, withCallerFrames } from '../sending/call-arguments.ts';
import type { Sender } from '../sending/sender.ts';
import type { ActiveTransaction } from './active-transaction.ts';
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

class TransactionMethods {
  readonly #handle: HandleCalls<CommonCalls>;
  readonly #sender: Sender;
  readonly #transaction: ActiveTransaction;
  readonly #collection: string;

  constructor(handle: HandleCalls<CommonCalls>, transaction: ActiveTransaction, name: string) {
    this.#handle = handle;
    this.#sender = transaction.senderOver(handle.channel);
    this.#transaction = transaction;
    this.#collection = name;
  }

  protected call(
    start: Start<CommonCalls>,
    args: readonly never[],
    { options }: CallRules,
    method: string,
  ): Promise<unknown> {
    const signal = options === undefined ? undefined : signalIn(args[options]);
    if (signal?.aborted) return Promise.reject(signal.reason);
    const running = this.#transaction.begin(this.#collection, method, args[0]);
    const result = this.#run(start, args, () => this.#transaction.ended(running));
    // No handler here: a failure that the function does not await must be reported as unhandled.
    running.result = result;
    running.signal = signal;
    return orAborted(result, signal);
  }

  async #run(
    start: Start<CommonCalls>,
    args: readonly never[],
    ended: () => void,
  ): Promise<unknown> {
    try {
      // One that was just constructed may have to load.
      const { calls } = this.#handle.loaded ?? (await this.#handle.load());
      const call: Result<unknown> = begin(start, calls, this.#sender, args);
      return await run(call);
    } catch (error) {
      throw withCallerFrames(nameCollection(error, this.#collection));
    } finally {
      ended();
    }
  }
}

class TransactionDocumentMethods extends TransactionMethods {
  static {
    const { modify: _, ...methods } = documentMethods;
    addMethods(this, methods);
  }
}

class TransactionKeyValueMethods extends TransactionMethods {
  static {
    const { modify: _, ...methods } = keyValueMethods;
    addMethods(this, methods);
  }
}

function transactionMethods(
  { name, type }: Pick<CollectionSettings, 'name' | 'type'>,
  handle: HandleCalls<CommonCalls>,
  transaction: ActiveTransaction,
): object {
  const Methods =
    type === 'DOCUMENT_BASED' ? TransactionDocumentMethods : TransactionKeyValueMethods;
  return new Methods(handle, transaction, name);
}
