import { systemClock } from '../../engine/scheduling/clock.ts';
import { TransactionError } from '../../errors/transaction-error.ts';
import type { ClientChannel } from '../../transport/channel/client-channel.ts';
import { CallTurns } from '../calls/call-turns.ts';
import type { ActiveTransaction } from './active-transaction.ts';

/** A function that neither calls `tx` nor ends for this long never ends: its snapshot is given up. */
const IDLE_MS = 60 * 60 * 1000;

/** A transaction inside of the function of another must not wait for it for ever. */
export const LONGEST_BACKOFF_MS = 250;

interface Open {
  readonly transaction: ActiveTransaction;
  readonly reject: (error: unknown) => void;
  /** The number of its calls at the last look; -1 before the first. */
  calls: number;
}

const byChannel = new WeakMap<ClientChannel, OpenTransactions>();

/** The running functions of a client's transactions. One listener and one timer serve all: most functions end soon. */
export class OpenTransactions {
  /** Of functions that run again: one at a time. */
  readonly reruns = new CallTurns(LONGEST_BACKOFF_MS);
  readonly #open = new Set<Open>();
  #isWatching = false;

  private constructor(channel: ClientChannel) {
    channel.listen((news) => {
      if ('error' in news) for (const { reject } of this.#open) reject(news.error);
    });
  }

  static of(channel: ClientChannel): OpenTransactions {
    let open = byChannel.get(channel);
    if (!open) {
      open = new OpenTransactions(channel);
      byChannel.set(channel, open);
    }
    return open;
  }

  /** Runs a function. Settles as it does, or rejects when nothing it does can count any more. */
  run<T>(
    body: (transaction: ActiveTransaction) => T | Promise<T>,
    transaction: ActiveTransaction,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const end = (error: unknown) => {
        this.#open.delete(open);
        signal?.removeEventListener('abort', abort);
        reject(error);
      };
      const open: Open = { transaction, reject: end, calls: -1 };
      const abort = () => end(signal?.reason);
      signal?.addEventListener('abort', abort);
      this.#open.add(open);
      this.#watch();
      try {
        const running = Promise.resolve(body(transaction));
        running.then((result) => {
          resolve(result);
          end(undefined);
        }, end);
      } catch (error) {
        end(error);
      }
    });
  }

  /** Looks for idle functions once in a while. */
  #watch(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    const look = () => {
      this.#isWatching = false;
      for (const open of this.#open) {
        const { transaction, calls, reject } = open;
        if (calls === transaction.calls && !transaction.isBusy) reject(idle());
        open.calls = transaction.calls;
      }
      if (this.#open.size > 0) this.#watch();
    };
    systemClock.after(IDLE_MS, look, true);
  }
}

function idle(): TransactionError {
  return new TransactionError(
    'transaction_expired',
    'The function of the transaction has neither called tx nor ended for an hour. Does it await a promise that never settles?',
  );
}
