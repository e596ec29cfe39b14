import { TransactionError } from '../../errors/errors.ts';
import type { CommitReply } from '../../protocol/requests.ts';
import type { Runtime } from '../calls/runtime.ts';
import type { CollectionHandle } from '../collections/collection-handle.ts';
import type { CollectionOwner } from '../collections/collection-owner.ts';
import { type SyncChannel, syncMethods } from '../collections/sync-methods.ts';
import type { HandleChannel } from '../sending/handle-channel.ts';
import { TransactionRequests } from './active-transaction.ts';
import { asTransactionSync, conflictInside, over } from './transaction-errors.ts';
import { opening } from './transaction-scope.ts';
import type { SyncTransaction } from './transaction-types.ts';

/**
 * Runs a transaction in one turn: only its own function can change something meanwhile.
 *
 * @throws {TransactionError} `transaction_misused` for an async function, `transaction_conflict`;
 *   {CollectionError} `sync_unavailable`; what the function throws.
 */
export function runTransactionSync<T>(
  owner: CollectionOwner,
  runtime: Runtime,
  run: (tx: SyncTransaction) => T,
): T {
  const transaction = new SyncRun(runtime);
  const scope = (collection: CollectionHandle<never, unknown>) => {
    const { calls, channel } = opening(owner, runtime, collection);
    transaction.collections.add(collection.name);
    // Throws where the collection is not in memory, with the reason.
    void collection.sync;
    return syncMethods(collection, calls, transaction.channelOver(channel));
  };
  try {
    const result = run(scope as unknown as SyncTransaction);
    if (typeof (result as PromiseLike<unknown> | undefined)?.then === 'function') {
      // It can only reject because the transaction is over.
      Promise.resolve(result).catch(() => undefined);
      const message = 'The function of transactionSync must not be async: use db.transaction().';
      throw new TransactionError('transaction_misused', message);
    }
    transaction.commit();
    return result;
  } catch (error) {
    throw asTransactionSync(error);
  } finally {
    transaction.end();
  }
}

class SyncRun {
  readonly collections = new Set<string>();
  readonly #runtime: Runtime;
  readonly #requests = new TransactionRequests();
  /** Whether the engine has the transaction. */
  #isOpen = false;
  #isOver = false;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  channelOver(channel: HandleChannel): SyncChannel {
    return {
      order: channel.order,
      sendSync: (ask) => {
        if (this.#isOver) throw over(true);
        const [request, replied] = this.#requests.next(channel.handle, ask);
        this.#isOpen = true;
        const reply = channel.sendSync(request);
        replied(reply);
        return reply;
      },
    };
  }

  /** @throws {TransactionError} `transaction_conflict`; running again would meet the same. */
  commit(): void {
    const commit = this.#requests.commit();
    if (commit.changes.length === 0) return;
    const reply = this.#runtime.channel.sendSync(commit) as CommitReply;
    this.#isOpen = false;
    if (reply !== 'committed') throw conflictInside(this.collections);
  }

  /** Discards what is staged, unless it was committed. */
  end(): void {
    this.#isOver = true;
    if (this.#isOpen) this.#runtime.channel.sendSync(this.#requests.rollback());
  }
}
