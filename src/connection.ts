import { EngineDoor } from './collection/door.ts';
import { type ConnectOptions, parseConnectOptions } from './collection/door-options.ts';

/** A database whose engine runs in a worker. */
export type Connection = EngineDoor;

/**
 * Connects to a database whose engine runs in a Web Worker; it needs no configuration of a bundler. Where no
 * worker can be had the engine runs in this thread, `status.started` says which it is.
 *
 * A worker that hangs in a pattern is replaced by another, and only that call rejects.
 *
 * @throws {OptionError} naming the option, what was given and what is allowed.
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
  return new EngineDoor(database, async (settings, events) => {
    const { connectToWorker } = await import('./transport/connect-to-worker.ts');
    return connectToWorker({ worker, answer_timeout }, settings, events);
  });
}
