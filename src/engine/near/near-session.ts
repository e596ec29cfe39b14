import { notInMemory } from '../collection-errors.ts';
import type { OperationContext } from '../collections/collection-context.ts';
import type { FirstSequenceNumbers } from '../protocol/idempotency-key.ts';
import { isRead } from '../protocol/operations.ts';
import type { BatchReply, Request } from '../protocol/requests.ts';
import { numberChange } from '../sessions/number-change.ts';
import type { Session } from '../sessions/session.ts';
import { commit } from '../transactions/commit.ts';
import { executeNow, nearContext } from './near-collection.ts';

/** The calls without promises of a session whose client is in the engine's thread. */
export class NearSession {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** What reads of a handle look into now, or throws. A short way: there are many of them, and they are quick. */
  context(handle: number): OperationContext {
    this.#checkRecovered();
    const { collection, declaration } = this.#session.handles.at(handle);
    return nearContext(collection, declaration);
  }

  /** Executes one request now, or throws. */
  execute(request: Request, first?: FirstSequenceNumbers): BatchReply {
    this.#checkRecovered();
    const { context } = this.#session;
    if (isRead(request))
      return { values: [this.#run(request, first)], failures: undefined, turn: 0 };
    const turn = context.turns.take();
    try {
      const value = this.#run(request, first);
      return { values: [value], failures: undefined, turn: turn() };
    } finally {
      context.collections.settle(this.#session.collectionsOf(request));
    }
  }

  #checkRecovered(): void {
    if (!this.#session.context.recovery.isOver)
      throw notInMemory(undefined, 'the database is opening; await db.ready first');
  }

  #run(request: Request, first?: FirstSequenceNumbers): unknown {
    const { handles, client, unfinished } = this.#session;
    if (request.op === 'rollback' || request.op === 'commit') return this.#end(request);
    const { collection, declaration } = handles.of(request);
    if (request.transaction !== undefined) {
      const transaction = this.#session.transactions.of(request);
      return executeNow(collection, request, declaration, undefined, transaction);
    }
    const key = first && numberChange(request, client, new Map(first));
    const value = executeNow(collection, request, declaration, key);
    unfinished.note(collection, request, value);
    return value;
  }

  /** Ends a transaction. */
  #end(request: Request<'rollback'> | Request<'commit'>): unknown {
    const { transactions } = this.#session;
    if (request.op === 'rollback') return transactions.execute(request);
    const busy = transactions.changedBy(request).find(({ queue }) => queue.busy);
    if (busy || transactions.importing())
      throw notInMemory(busy?.settings.name, 'earlier calls wait; await them first');
    // What others have not saved cannot be waited for.
    return commit(transactions.targets(request), transactions.take(request), false);
  }
}
