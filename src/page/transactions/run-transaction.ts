import type { parseTransactionOptions } from '../../api/transaction-options.ts';
import { systemClock } from '../../async/clock.ts';
import { type Coroutine, run } from '../../async/coroutine.ts';
import { TransactionError } from '../../errors/errors.ts';
import { CallOrder } from '../connection/call-order.ts';
import type { ClientChannel } from '../connection/client-channel.ts';
import { orAborted } from '../sending/call-arguments.ts';
import { CallQueue } from '../sending/call-queue.ts';
import { HandleChannel } from '../sending/handle-channel.ts';
import type { Sender } from '../sending/sender.ts';
import { ActiveTransaction } from './active-transaction.ts';
import { exhausted } from './transaction-errors.ts';

/**
 * The first wait before the function runs again; each is twice as long, and of it a random part is
 * taken.
 */
const BACKOFF_MS = 8;

/** The running functions of a client's transactions. One listener and one timer serve all. */
class OpenTransactions {
  /** Of functions that run again: one at a time. */
  readonly reruns = new CallQueue(LONGEST_BACKOFF_MS);
  readonly #open = new Set<Open>();
  #isWatching = false;

  private constructor(channel: ClientChannel) {
    channel.listen((update) => {
      if ('error' in update) for (const { reject } of this.#open) reject(update.error);
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

/** A transaction inside of the function of another must not wait for it for ever. */
const LONGEST_BACKOFF_MS = 250;

/**
 * Runs a transaction until it is committed.
 *
 * @param channel The channel to the engine, which is open.
 * @param body Runs the caller's function in a transaction.
 * @throws {TransactionError} `transaction_conflict` after too many conflicts; what the function
 *   throws.
 */
export async function runTransaction<T>(
  channel: ClientChannel,
  body: (transaction: ActiveTransaction) => T | Promise<T>,
  { retries, durable, signal }: ReturnType<typeof parseTransactionOptions>,
): Promise<T> {
  const running = OpenTransactions.of(channel);
  for (let run = 0; ; run++) {
    signal?.throwIfAborted();
    // Else those that have conflicted with each other would do so again.
    const turn = run > 0 ? running.reruns.take(undefined, signal) : undefined;
    if (turn?.begun) await turn.begun;
    const transaction = new ActiveTransaction(channel);
    try {
      signal?.throwIfAborted();
      const result = await running.run(body, transaction, signal);
      const committed = transaction.commit().then(async (reply) => {
        if (reply !== 'committed') return false;
        turn?.end();
        if (durable) await channel.save();
        return true;
      });
      if (await orAborted(committed, signal)) return result;
    } catch (error) {
      // Whatever the function threw, it may have thrown because of the conflict.
      if (signal?.aborted || !transaction.conflict) throw error;
    } finally {
      transaction.end();
      turn?.end();
    }
    if (run >= retries) throw exhausted(run + 1, transaction.collections, transaction.conflict);
    await backoff(run);
  }
}

function backoff(run: number): Promise<void> {
  const ms = Math.random() * Math.min(LONGEST_BACKOFF_MS, BACKOFF_MS * 2 ** run);
  return new Promise((resolve) => systemClock.after(ms, resolve));
}

/** With each conflict another call has made progress. */
const RETRIES = 100;

/** A call of several requests. */
export interface AtomicCall<T> {
  readonly channel: ClientChannel;
  readonly collection: string;
  readonly handle: number;
  readonly start: (sender: Sender) => Coroutine<T>;
}

/** Runs one call of a collection as a transaction, until nobody was quicker. */
export async function runCallAtomically<T>({
  channel,
  handle,
  collection,
  start,
}: AtomicCall<T>): Promise<T> {
  await channel.open();
  // The order of the collection belongs to this very call.
  const alone = new HandleChannel(channel, new CallOrder(), handle);
  const body = async (transaction: ActiveTransaction) => {
    transaction.collections.add(collection);
    return await run(start(transaction.senderOver(alone)));
  };
  return runTransaction(channel, body, { retries: RETRIES, durable: false, signal: undefined });
}

/**
 * A function that neither calls `tx` nor ends for this long never ends: its snapshot is given up.
 */
const IDLE_MS = 60 * 60 * 1000;

interface Open {
  readonly transaction: ActiveTransaction;
  readonly reject: (error: unknown) => void;
  /** The number of its calls at the last look; -1 before the first. */
  calls: number;
}

const byChannel = new WeakMap<ClientChannel, OpenTransactions>();

function idle(): TransactionError {
  return new TransactionError(
    'transaction_expired',
    'The function of the transaction has neither called tx nor ended for an hour. Does it await a promise that never settles?',
  );
}
