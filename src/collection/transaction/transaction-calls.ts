import { type Coroutine, run } from '../../engine/scheduling/coroutine.ts';
import { nameCollection } from '../../errors/criteria-error.ts';
import { withCallerFrames } from '../calls/caller-frames.ts';
import { orAborted } from '../calls/first-call.ts';
import type { HandleCalls } from '../calls/runtime.ts';
import type { Sender } from '../calls/sender.ts';
import { signalIn } from '../options/option-checks.ts';
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

  /** @param options Of the call: a signal in it ends the wait. The commit waits for the call all the same. */
  protected call<T>(
    start: (calls: Calls, sender: Sender) => Coroutine<T>,
    options?: unknown,
  ): Promise<T> {
    const signal = signalIn(options);
    if (signal?.aborted) return Promise.reject(signal.reason);
    const running = this.#transaction.begin();
    const result = this.#run(start, () => this.#transaction.ended(running));
    // No handler here: a failure that neither the function nor the commit awaits must be reported as unhandled.
    running.result = result;
    return orAborted(result, signal);
  }

  async #run<T>(
    start: (calls: Calls, sender: Sender) => Coroutine<T>,
    ended: () => void,
  ): Promise<T> {
    try {
      return await run(start(this.#calls, this.#sender));
    } catch (error) {
      throw withCallerFrames(nameCollection(error, this.#collection));
    } finally {
      ended();
    }
  }
}
