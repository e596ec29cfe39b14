import { type Coroutine, run } from '../../engine/scheduling/coroutine.ts';
import type { ClientChannel } from '../../transport/channel/client-channel.ts';
import { CallOrder } from '../calls/call-order.ts';
import { HandleChannel } from '../calls/handle-channel.ts';
import type { Sender } from '../calls/sender.ts';
import type { ActiveTransaction } from './active-transaction.ts';
import { runTransaction } from './run-transaction.ts';

/** With each conflict another call has made progress. */
const RETRIES = 100;

interface AtomicCall<T> {
  readonly channel: ClientChannel;
  readonly collection: string;
  readonly handle: number;
  readonly start: (sender: Sender) => Coroutine<T>;
}

/**
 * Runs one call of a collection as a transaction, until nobody was quicker. The caller keeps later calls of the collection
 * waiting.
 */
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
