import {
  type Check,
  checkOptions,
  integer,
  isAbortSignal,
} from '../../api/options/option-checks.ts';
import { type Coroutine, wait } from '../../async/coroutine.ts';
import { isPromise, isRevoked } from '../../codec/kinds.ts';
import { TransactionError, ValueError } from '../../errors/errors.ts';
import type { CallOrder } from '../connection/call-order.ts';
import { CallQueue } from '../sending/call-queue.ts';
import type { Sender } from '../sending/sender.ts';

/** With each conflict another call has made progress. */
const RETRIES = 1000;

/**
 * Longer than most functions take, and short for one that modifies its own document, and so waits
 * for itself.
 */
const LONGEST_WAIT_MS = 1000;

const byOrder = new WeakMap<CallOrder, CallQueue>();

/** The queue of `modify` in a collection, which all handles of a client share. */
export function modifyQueueOf(order: CallOrder): CallQueue {
  let queue = byOrder.get(order);
  if (!queue) {
    queue = new CallQueue(LONGEST_WAIT_MS);
    byOrder.set(order, queue);
  }
  return queue;
}

const checks: Readonly<Record<string, Check>> = {
  retries: integer(0, undefined, RETRIES),
  signal: { allowed: 'an AbortSignal', test: isAbortSignal },
};

/** Options of `modify`. */
export interface ModifyOptions {
  /** How often the function runs again because of a conflict. @default 1000 */
  retries?: number | undefined;
  /**
   * Aborts the call: the promise rejects with the signal's reason. A change in flight may still be
   * made.
   */
  signal?: AbortSignal | undefined;
}

/**
 * The runs of a function that makes a new value of the present one.
 * docs/decisions/021-update-operators.md says why no lock is taken.
 */
export class ModifyAttempts {
  readonly sender: Sender;
  readonly #change: (value: unknown) => unknown;
  readonly #retries: number;
  readonly #place: string;
  readonly #signal: AbortSignal | undefined;
  #runs = 0;

  /**
   * @param place The id or key.
   * @throws {ValueError} `value_unsupported`; {OptionError}
   */
  constructor(sender: Sender, change: unknown, options: unknown, place: string) {
    if (typeof change !== 'function')
      throw new ValueError('value_unsupported', 'modify takes a function.', { place: 'change' });
    this.sender = sender;
    this.#change = change as (value: unknown) => unknown;
    const { retries, signal } = checkOptions(options ?? {}, checks, 'modify');
    this.#retries = retries as number;
    this.#signal = signal as AbortSignal | undefined;
    this.#place = place;
  }

  /**
   * Starts a call when it is its turn: n calls at the same time would else run their functions n²/2
   * times.
   */
  *inTurn<T>(queue: CallQueue, key: string, start: () => Coroutine<T>): Coroutine<T> {
    if (this.sender.isSync) return yield* start();
    const { begun, end } = queue.take(key, this.#signal);
    try {
      if (begun) yield begun;
      return yield* start();
    } finally {
      end();
    }
  }

  /**
   * Runs the function, and awaits it. @throws {TransactionError} `transaction_conflict` when it has
   * run too often.
   */
  *run(value: unknown): Coroutine<unknown> {
    if (this.#runs++ > this.#retries) throw this.#conflict();
    const changed = this.#change(value);
    // What stores it says that it is revoked.
    if (isRevoked(changed) || !isPromise(changed)) return changed;
    if (!this.sender.isSync) return yield* wait(Promise.resolve(changed));
    const message = 'In collection.sync the function of modify must return the value at once.';
    throw new ValueError('value_unsupported', message, { place: 'change' });
  }

  #conflict(): TransactionError {
    const runs = this.#runs - 1;
    const when =
      runs === 1 ? 'while the function ran' : `during each of ${runs} runs of the function`;
    const message = `Others changed "${this.#place}" ${when}; nothing was changed. Use update operators, or raise \`retries\`.`;
    return new TransactionError('transaction_conflict', message, { place: this.#place });
  }
}
