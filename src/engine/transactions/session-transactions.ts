import { isPromise } from '../../codec/kinds.ts';
import { isExclusive } from '../../protocol/operations.ts';
import type { CommitReply, Request } from '../../protocol/requests.ts';
import type { CollectionSettings } from '../../protocol/settings.ts';
import type { IndexDeclaration } from '../documents/index-keeper.ts';
import { provideReads } from '../find/late-reads.ts';
import type { SnapshotHolder } from '../records/open-snapshots.ts';
import { ReadSet } from '../records/read-set.ts';
import type { ReplayOrder } from '../replay-order.ts';
import { type CommitTarget, type CommittedCollection, commit, recommit } from './commit.ts';
import { RecordView, TransactionSnapshot } from './record-view.ts';
import { EngineTransaction } from './transaction.ts';

interface TransactionalCollection extends CommittedCollection {
  execute(
    request: Request,
    reader: undefined,
    key: undefined,
    declaration: IndexDeclaration | undefined,
    transaction: EngineTransaction,
  ): unknown;
}

interface TransactionalHandle {
  readonly settings: CollectionSettings;
  readonly collection: TransactionalCollection;
  readonly declaration: IndexDeclaration | undefined;
  readonly error: Error | undefined;
}

export interface TransactionalHandles {
  of(request: Request): TransactionalHandle;
  readonly all: { get(number: number): TransactionalHandle | undefined };
}

/** Executes the requests of a session's transactions, which the client has numbered. */
export class SessionTransactions {
  readonly #client: string;
  readonly #handles: TransactionalHandles;
  readonly #snapshots: SnapshotHolder;
  /** Resolves when no import holds collections while it waits for others. */
  readonly importing: () => Promise<unknown> | undefined;
  readonly #open = new Map<number, EngineTransaction>();

  constructor(
    client: string,
    handles: TransactionalHandles,
    snapshots: SnapshotHolder,
    importing: () => Promise<unknown> | undefined,
  ) {
    this.#client = client;
    this.#handles = handles;
    this.#snapshots = snapshots;
    this.importing = importing;
  }

  /**
   * Executes a request on the view of its transaction, which begins with its first; or ends the
   * transaction.
   */
  execute(request: Request): unknown {
    if (request.op === 'rollback') return this.take(request)?.end();
    if (request.op === 'commit') return this.#commit(request);
    const { collection, declaration } = this.#handles.of(request);
    const transaction = this.of(request);
    return transaction.queue.enter(isExclusive(request), () =>
      collection.execute(request, undefined, undefined, declaration, transaction),
    );
  }

  /** Repeats a transaction that another engine has committed, unless it was saved. */
  async reapply(request: Request<'commit'>, order: ReplayOrder): Promise<void> {
    const importing = this.importing();
    // Else at once: replayed changes enter the queues in their order.
    if (importing) await importing;
    const targets = this.targets(request);
    if (targets.length > 0) await recommit(targets, request.changes, this.#snapshots, order);
  }

  endAll(): void {
    for (const transaction of this.#open.values()) transaction.end();
    this.#open.clear();
  }

  #commit(request: Request<'commit'>): CommitReply | Promise<CommitReply> {
    const transaction = this.take(request);
    // Now: the session may have left by its turn, and without its handles nothing would be noted.
    const targets = this.targets(request);
    const perform = () => commit(targets, transaction, request.mayHang === true);
    const outcome = this.importing()?.then(perform) ?? perform();
    const secure = (reply: CommitReply) =>
      reply === 'committed' ? transaction?.secure(this.#client)?.then(() => reply) : undefined;
    return isPromise(outcome)
      ? outcome.then((reply) => secure(reply) ?? reply)
      : (secure(outcome) ?? outcome);
  }

  /** The transaction of a request, begun by its first. */
  of({ transaction: number = 0 }: Request): EngineTransaction {
    let transaction = this.#open.get(number);
    if (!transaction) {
      transaction = new EngineTransaction(this.#snapshots);
      this.#open.set(number, transaction);
    }
    return transaction;
  }

  take({ transaction: number = 0 }: Request): EngineTransaction | undefined {
    const transaction = this.#open.get(number);
    this.#open.delete(number);
    return transaction;
  }

  /** Collections that were dropped since are left out. */
  targets({ numbers }: Request<'commit'>): CommitTarget[] {
    return numbers.flatMap(([handle, number]) => {
      const open = this.#handles.all.get(handle);
      if (!open || open.error) return [];
      const { collection, settings } = open;
      const key = { client: this.#client, handle, number };
      return { handle, collection, key, settings };
    });
  }
}

provideReads({
  takeInstant(snapshots) {
    const snapshot = new TransactionSnapshot(snapshots);
    return {
      viewOf: (records) => new RecordView(records, snapshot, new ReadSet()),
      release: () => snapshot.release(),
    };
  },
});
