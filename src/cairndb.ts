import type { ConnectOptions } from './api/options/client-options.ts';
import { type Connection, connectBy } from './connection.ts';
import { EarlyWorker } from './page/connection/worker/early-worker.ts';

export * from './index.ts';

/**
 * The `connect` of the package: it starts a worker beside the page's part. That takes
 * `import.meta`, which CommonJS cannot read, so the condition `module`, of bundlers, names this
 * file, and Node and Jest get `index.ts`.
 */
export function connect(options: ConnectOptions): Connection {
  return connectBy(options, (source, settings) => new EarlyWorker(source, settings));
}
