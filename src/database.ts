import { type DatabaseOptions, parseDatabaseOptions } from './api/options/client-options.ts';
import { ThreadClient } from './page/client/thread-client.ts';

/**
 * A database whose engine runs in this thread: for Node, tests, server rendering and small pages.
 * In a browser `connect()` is the usual choice.
 *
 * @example
 * ```ts
 * const db = new Database({ name: 'shop' });
 * const orders = new db.Collection({ name: 'orders', type: 'DOCUMENT_BASED' });
 * await orders.insert({ total: 12 });
 * await db.close();
 * ```
 */
export class Database extends ThreadClient {
  /** @throws {OptionError} with the option, the given value and the allowed ones. */
  constructor(options: DatabaseOptions) {
    super(parseDatabaseOptions(options));
  }
}
