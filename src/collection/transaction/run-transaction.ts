import { systemClock } from '../../engine/scheduling/clock.ts';
import type { ClientChannel } from '../../transport/channel/client-channel.ts';
import { orAborted } from '../calls/first-call.ts';
import { ActiveTransaction } from './active-transaction.ts';
import { LONGEST_BACKOFF_MS, OpenTransactions } from './open-transactions.ts';
import { exhausted } from './transaction-errors.ts';
import type { parseTransactionOptions } from './transaction-options.ts';

/** The first wait before the function runs again; each is twice as long, and of it a random part is taken. */
const BACKOFF_MS = 8;

/**
 * Runs a transaction until it is committed.
 *
 * @param channel The channel to the engine, which is open.
 * @param body Runs the caller's function in a transaction.
 * @throws {TransactionError} `transaction_conflict` after too many conflicts; what the function throws.
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
