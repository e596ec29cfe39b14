import { BaseClient } from './client/base-client.ts';
import { type DatabaseOptions, parseDatabaseOptions } from './client/client-options.ts';
import { loadFailed } from './collection/calls/first-call.ts';
import type { runTransactionSync } from './collection/transaction/run-transaction-sync.ts';
import type { NotAsync, SyncTransaction } from './collection/transaction/transaction-types.ts';
import { CollectionError } from './errors/collection-error.ts';

/** Loads with the engine. */
let runSync: typeof runTransactionSync | undefined;

/**
 * A database whose engine runs in this thread: for Node, tests, server rendering and small pages. In a browser
 * `connect()` is the usual choice.
 *
 * @example
 * ```ts
 * const db = new Database({ name: 'shop' });
 * const orders = new db.Collection({ name: 'orders', type: 'DOCUMENT_BASED' });
 * await orders.insert({ total: 12 });
 * await db.close();
 * ```
 */
export class Database extends BaseClient {
  /** @throws {OptionError} with the option, the given value and the allowed ones. */
  constructor(options: DatabaseOptions) {
    super(parseDatabaseOptions(options), async (settings) => {
      const [{ connectInThread }, sync] = await Promise.all([
        import('./transport/thread/connect-in-thread.ts'),
        import('./collection/transaction/run-transaction-sync.ts'),
      ]).catch(loadFailed);
      runSync = sync.runTransactionSync;
      return connectInThread(settings);
    });
  }

  /**
   * The {@link transaction} without promises, for collections with `caching: true` after `await collection.ready`. Nobody
   * else can change something meanwhile, so the function runs once.
   *
   * @throws {CollectionError} `sync_unavailable` with the reason; {TransactionError} `transaction_misused` for an async
   *   function, `transaction_conflict` if it changes beside `tx` what it has read; or what the function throws. Nothing is
   *   changed then.
   *
   * @example
   * ```ts
   * db.transactionSync((tx) => {
   *   tx(accounts).patch('ada', { $inc: { balance: -10 } });
   *   tx(accounts).patch('bob', { $inc: { balance: 10 } });
   * });
   * ```
   */
  transactionSync<T>(run: (tx: SyncTransaction) => T & NotAsync<T>): T {
    const { refusal, runtime } = this;
    if (refusal) throw refusal;
    if (runSync && runtime) return runSync(this, runtime, run);
    const message = 'transactionSync cannot be used: await db.ready first.';
    throw new CollectionError('sync_unavailable', message);
  }
}
