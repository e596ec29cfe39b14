import { BaseClient } from './client/base-client.ts';
import { type ConnectOptions, parseConnectOptions } from './client/client-options.ts';
import { loadFailed } from './collection/calls/first-call.ts';

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
  return new BaseClient(database, async (settings) => {
    // Node, and the pages of happy-dom and jsdom. Asked with the first call: a test may replace it.
    if (!worker && !globalThis.Worker) {
      const thread = await import('./transport/thread/connect-in-thread.ts').catch(loadFailed);
      return thread.connectInThread(settings);
    }
    const { connectToWorker } = await import('./transport/worker/connect-to-worker.ts').catch(
      loadFailed,
    );
    return connectToWorker({ worker, answer_timeout }, settings);
  });
}
