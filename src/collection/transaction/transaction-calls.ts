import { type Coroutine, run } from '../../engine/scheduling/coroutine.ts';
import { nameCollection } from '../../errors/criteria-error.ts';
import { withCallerFrames } from '../calls/caller-frames.ts';
import type { HandleCalls } from '../calls/runtime.ts';
import type { Sender } from '../calls/sender.ts';
import type { ActiveTransaction } from './active-transaction.ts';

/** Calls on one collection in a transaction. */
export class TransactionCalls<Calls> {
  readonly #calls: Calls;
  readonly #sender: Sender;
  readonly #transaction: ActiveTransaction;
  readonly #collection: string;

  constructor(
    { calls, channel }: HandleCalls<Calls>,
    transaction: ActiveTransaction,
    collection: string,
  ) {
    this.#calls = calls;
    this.#sender = transaction.senderOver(channel);
    this.#transaction = transaction;
    this.#collection = collection;
  }

  protected call<T>(start: (calls: Calls, sender: Sender) => Coroutine<T>): Promise<T> {
    const call = this.#run(start);
    // The commit rejects with the failure of a call that is not awaited.
    call.catch(() => undefined);
    return call;
  }

  async #run<T>(start: (calls: Calls, sender: Sender) => Coroutine<T>): Promise<T> {
    this.#transaction.began();
    try {
      return await run(start(this.#calls, this.#sender));
    } catch (cause) {
      const error = withCallerFrames(nameCollection(cause, this.#collection));
      this.#transaction.failed(error);
      throw error;
    } finally {
      this.#transaction.ended();
    }
  }
}
