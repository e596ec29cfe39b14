import { type ConnectOptions, parseConnectOptions } from './api/options/client-options.ts';
import { loadFailed } from './errors/errors.ts';
import { BaseClient } from './page/client/base-client.ts';
import type { EarlyWorker } from './page/connection/worker/early-worker.ts';
import type { DatabaseSettings, WorkerSource } from './protocol/database-settings.ts';

const loadThread = () => import('./page/connection/thread-engine.ts').catch(loadFailed);
const loadWorker = () => import('./page/connection/worker/connect-to-worker.ts').catch(loadFailed);

/** A database whose engine runs in a worker. */
export type Connection = BaseClient;

/** Makes the first worker of a client. */
type MakeEarly = (source: WorkerSource | undefined, settings: DatabaseSettings) => EarlyWorker;

/**
 * What `connect()` does. @param makeEarly Left out, the worker starts once the page's part has
 * loaded.
 */
export function connectBy(options: ConnectOptions, makeEarly?: MakeEarly): Connection {
  const { worker, answer_timeout, ...database } = parseConnectOptions(options);
  // None in Node, and in the pages of happy-dom and jsdom. Asked with the first call: a test may
  // replace it.
  const hasWorker = () => worker ?? 'Worker' in globalThis;
  const early = makeEarly?.(worker, database);
  const open = async (settings: DatabaseSettings) => {
    if (!hasWorker()) return (await loadThread()).connectInThread(settings);
    return (await loadWorker()).connectToWorker({ worker, answer_timeout, early }, settings);
  };
  const client = new BaseClient(database, open, () => {
    if (!hasWorker()) return loadThread();
    early?.begin();
    return loadWorker();
  });
  if (early)
    client.on('status', ({ state }) => {
      if (state !== 'idle' && state !== 'opening') early.end();
    });
  return client;
}

/**
 * Connects to a database whose engine runs in a Web Worker, without configuration of a bundler.
 * Where no worker starts the engine runs in this thread; see `status.started`.
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
  return connectBy(options);
}
