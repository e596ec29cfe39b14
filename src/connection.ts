import { BaseClient } from './client/base-client.ts';
import { type ConnectOptions, parseConnectOptions } from './client/client-options.ts';
import { loadFailed } from './collection/calls/first-call.ts';
import type { DatabaseSettings } from './transport/channel/channel.ts';

const loadThread = () => import('./transport/thread/connect-in-thread.ts').catch(loadFailed);
const loadWorker = () => import('./transport/worker/connect-to-worker.ts').catch(loadFailed);

/** A database whose engine runs in a worker. */
export type Connection = BaseClient;

/**
 * Connects to a database whose engine runs in a Web Worker, without configuration of a bundler. Where no worker starts
 * the engine runs in this thread; see `status.started`.
 *
 * A worker that hangs in a pattern is replaced, and only that call rejects.
 *
 * @throws {OptionError} with the option, the given value and the allowed ones.
 *
 * @example
 * ```ts
 * const connection = connect({ name: 'shop' });
 * const orders = new connection.Collection({ name: 'orders', type: 'DOCUMENT_BASED' });
 * await orders.insert({ total: 12 });
 * ```
 */
export function connect(options: ConnectOptions): Connection {
  const { worker, answer_timeout, ...database } = parseConnectOptions(options);
  // None in Node, and in the pages of happy-dom and jsdom. Asked with the first call: a test may replace it.
  const hasWorker = () => worker ?? globalThis.Worker;
  const open = async (settings: DatabaseSettings) => {
    if (!hasWorker()) return (await loadThread()).connectInThread(settings);
    return (await loadWorker()).connectToWorker({ worker, answer_timeout }, settings);
  };
  return new BaseClient(database, open, () => (hasWorker() ? loadWorker() : loadThread()));
}
