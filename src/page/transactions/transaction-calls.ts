import { signalIn } from '../../api/options/option-checks.ts';
import { isCoroutine, type Result, run } from '../../async/coroutine.ts';
import { nameCollection } from '../../errors/errors.ts';
import type { CommonCalls } from '../calls/common-calls.ts';
import type { HandleCalls } from '../calls/runtime.ts';
import { orAborted, withCallerFrames } from '../sending/call-arguments.ts';
import type { Sender } from '../sending/sender.ts';
import type { ActiveTransaction } from './active-transaction.ts';

/** Calls on one collection in a transaction. */
export class TransactionCalls<Calls extends CommonCalls> {
  readonly #handle: HandleCalls<Calls>;
  readonly #sender: Sender;
  readonly #transaction: ActiveTransaction;
  readonly #collection: string;

  constructor(handle: HandleCalls<Calls>, transaction: ActiveTransaction, collection: string) {
    this.#handle = handle;
    this.#sender = transaction.senderOver(handle.channel);
    this.#transaction = transaction;
    this.#collection = collection;
  }

  /**
   * @param id Of the document or key, for an error.
   * @param options Of the call: a signal in it ends the call.
   */
  protected call<T>(
    method: string,
    start: (calls: Calls, sender: Sender) => Result<T>,
    id?: unknown,
    options?: unknown,
  ): Promise<T> {
    const signal = signalIn(options);
    if (signal?.aborted) return Promise.reject(signal.reason);
    const running = this.#transaction.begin(this.#collection, method, id);
    const result = this.#run(start, () => this.#transaction.ended(running));
    // No handler here: a failure that the function does not await must be reported as unhandled.
    running.result = result;
    running.signal = signal;
    return orAborted(result, signal);
  }

  async #run<T>(start: (calls: Calls, sender: Sender) => Result<T>, ended: () => void): Promise<T> {
    try {
      // One that was just constructed may have to load.
      const { calls } = this.#handle.loaded ?? (await this.#handle.load());
      const call = start(calls, this.#sender);
      return isCoroutine(call) ? await run(call) : call;
    } catch (error) {
      throw withCallerFrames(nameCollection(error, this.#collection));
    } finally {
      ended();
    }
  }
}
