import { type Coroutine, wait } from '../../engine/scheduling/coroutine.ts';
import { TransactionError } from '../../errors/transaction-error.ts';
import { ValueError } from '../../errors/value-error.ts';
import type { Sender } from '../calls/sender.ts';
import { type Check, checkOptions, integer, isAbortSignal } from '../options/option-checks.ts';

/** With each conflict another call has made progress: also one of this client, whose calls run at the same time. */
const RETRIES = 1000;

const checks: Readonly<Record<string, Check>> = {
  retries: integer('a whole number from 0', (retries) => retries >= 0, RETRIES),
  signal: { allowed: 'an AbortSignal', test: isAbortSignal },
};

/** Options of `modify`. */
export interface ModifyOptions {
  /** How often the function runs again because of a conflict. @default 1000 */
  retries?: number | undefined;
  /** Aborts the call: the promise rejects with the signal's reason. A change in flight may still be made. */
  signal?: AbortSignal | undefined;
}

/** The runs of a function that makes a new value of the present one. */
export class ModifyAttempts {
  readonly #sender: Sender;
  readonly #change: (value: unknown) => unknown;
  readonly #retries: number;
  readonly #place: string;
  #runs = 0;

  /**
   * @param place The id or key.
   * @throws {ValueError} `value_unsupported`; {OptionError}
   */
  constructor(sender: Sender, change: unknown, options: unknown, place: string) {
    if (typeof change !== 'function')
      throw new ValueError('value_unsupported', 'modify takes a function.', { place: 'change' });
    this.#sender = sender;
    this.#change = change as (value: unknown) => unknown;
    this.#retries = checkOptions(options ?? {}, checks, 'modify').retries as number;
    this.#place = place;
  }

  /** Runs the function, and awaits it. @throws {TransactionError} `transaction_conflict` when it has run too often. */
  *run(value: unknown): Coroutine<unknown> {
    if (this.#runs++ > this.#retries) throw this.#conflict();
    const changed = this.#change(value);
    if (typeof (changed as PromiseLike<unknown> | undefined)?.then !== 'function') return changed;
    if (!this.#sender.isSync) return yield* wait(Promise.resolve(changed));
    const message = 'In collection.sync the function of modify must return the value at once.';
    throw new ValueError('value_unsupported', message, { place: 'change' });
  }

  #conflict(): TransactionError {
    const message = `Others changed "${this.#place}" during each of ${this.#runs - 1} runs of the function; nothing was changed. Use update operators, or raise \`retries\`.`;
    return new TransactionError('transaction_conflict', message, { place: this.#place });
  }
}
