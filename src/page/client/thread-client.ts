import { CollectionError, loadFailed } from '../../errors/errors.ts';
import type { Platform } from '../../platform/platform.ts';
import type { DatabaseSettings } from '../../protocol/database-settings.ts';
import type { connectInThread } from '../connection/thread-engine.ts';
import type { runTransactionSync } from '../transactions/run-transaction-sync.ts';
import type { NotAsync, SyncTransaction } from '../transactions/transaction-types.ts';
import { BaseClient, loadDatabaseCalls } from './base-client.ts';

/** The code of a client whose engine runs in this thread. */
interface ThreadParts {
  readonly connectInThread: typeof connectInThread;
  readonly runTransactionSync: typeof runTransactionSync;
}

/** Loads with the engine. */
let runSync: typeof runTransactionSync | undefined;

async function loadParts(): Promise<ThreadParts> {
  const [thread, sync] = await Promise.all([
    import('../connection/thread-engine.ts'),
    import('../transactions/run-transaction-sync.ts'),
    // Its file has code that the thread shares: requested after it, it would be one more round
    // trip.
    loadDatabaseCalls(),
  ]).catch(loadFailed);
  return { ...thread, ...sync };
}

/** A client whose engine runs in this thread. */
export class ThreadClient extends BaseClient {
  /** @param platform By default that of this page or process. */
  constructor(settings: DatabaseSettings, platform?: Platform, load = loadParts) {
    const connect = async () => {
      const parts = await load();
      runSync = parts.runTransactionSync;
      return parts.connectInThread(settings, platform);
    };
    super(settings, connect, load);
  }

  /**
   * The {@link transaction} without promises, for collections with `caching: true` after
   * `await collection.ready`. Nobody else can change something meanwhile, so the function runs
   * once.
   *
   * @throws {CollectionError} `sync_unavailable` with the reason; {TransactionError}
   *   `transaction_misused` for an async function, `transaction_conflict` if it changes beside `tx`
   *   what it has read; or what the function throws. Nothing is changed then.
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
