import { runSync } from '../async/coroutine.ts';
import { notInMemory } from '../errors/errors.ts';
import { isRead, neededParts } from '../protocol/operations.ts';
import type { PartName } from '../protocol/parts.ts';
import type {
  BatchReply,
  FirstSequenceNumbers,
  IdempotencyKey,
  OperationName,
  Request,
} from '../protocol/requests.ts';
import type { OperationContext } from './collection-context.ts';
import type { IndexDeclaration } from './documents/index-keeper.ts';
import type { HostedCollection } from './hosted-collection.ts';
import { parts } from './parts.ts';
import { checkVersion } from './request-queue.ts';
import type { Session } from './sessions/session.ts';
import { numberChange } from './sessions/session-handles.ts';
import { commit } from './transactions/commit.ts';
import * as transactions from './transactions/session-transactions.ts';
import type { EngineTransaction } from './transactions/transaction.ts';
import * as updates from './update/part.ts';

/** The calls without promises of a session whose client is in the engine's thread. */
export class NearSession {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
    // Its calls wait for no code.
    parts.add('transactions', transactions);
    parts.add('updates', updates);
  }

  /**
   * What reads of a handle look into now, or throws. A short way: there are many of them, and they
   * are quick.
   */
  context(handle: number): OperationContext {
    this.#checkRecovered(handle);
    const { collection, declaration } = this.#session.handles.at(handle);
    return nearContext(collection, declaration);
  }

  /** Executes one request now, or throws. */
  execute(request: Request, first?: FirstSequenceNumbers): BatchReply {
    this.#checkRecovered(request.handle, request);
    const { context } = this.#session;
    if (isRead(request))
      return { values: [this.#run(request, first)], failures: undefined, turn: 0 };
    const turn = context.batchNumbers.allocate();
    try {
      const value = this.#run(request, first);
      return { values: [value], failures: undefined, turn: turn() };
    } finally {
      context.collections.settle(this.#session.collectionsOf(request));
    }
  }

  #checkRecovered(handle: number, request?: Request): void {
    const { overdue, isOver } = this.#session.context.recovery;
    if (!isOver) throw notInMemory(undefined, 'the database is opening; await db.ready first');
    if (overdue.areThere) this.#session.checkOverdue(request ?? ({ op: 'get', handle } as Request));
  }

  #run(asked: Request, first?: FirstSequenceNumbers): unknown {
    const { handles, client, unfinished } = this.#session;
    const request = handles.withPartners(asked);
    if (request.related?.ahead)
      throw notInMemory(undefined, 'earlier calls wait; await them first');
    if (request.op === 'rollback' || request.op === 'commit') return this.#end(request);
    const { collection, declaration } = handles.of(request);
    if (request.transaction !== undefined) {
      const transaction = this.#transactions().of(request);
      return executeNow(collection, request, declaration, undefined, transaction);
    }
    const key = first && numberChange(request, client, new Map(first));
    const value = executeNow(collection, request, declaration, key);
    unfinished.note(collection, request, value);
    return value;
  }

  #transactions() {
    return runSync(this.#session.transactions.load(), 'transactions');
  }

  /** Ends a transaction. */
  #end(request: Request<'rollback'> | Request<'commit'>): unknown {
    const transactions = this.#transactions();
    if (request.op === 'rollback') return transactions.execute(request);
    const busy = this.#session.collectionsOf(request).find(({ queue }) => queue.busy);
    if (busy || transactions.importing())
      throw notInMemory(busy?.settings.name, 'earlier calls wait; await them first');
    // What others have not saved cannot be waited for.
    return commit(transactions.targets(request), transactions.take(request), false);
  }
}

type Declaration = IndexDeclaration | undefined;

/** What a read looks into now. @throws as {@link checkAtHand} */
function nearContext(collection: HostedCollection, declaration: Declaration): OperationContext {
  checkAtHand(collection, 'get', declaration);
  collection.availability.check();
  return collection.context;
}

/** Executes a request now. @throws as {@link checkAtHand} */
function executeNow(
  collection: HostedCollection,
  request: Request,
  declaration: Declaration,
  key: IdempotencyKey | undefined,
  transaction?: EngineTransaction,
): unknown {
  checkAtHand(collection, request.op, declaration, key);
  for (const part of neededParts(request)) checkLoaded(part, collection.settings.name);
  return collection.context.aborts.atOnce(() => {
    const result = collection.perform(request, { key, transaction });
    return runSync(result, collection.settings.name);
  });
}

/** @throws {CollectionError} `sync_unavailable` while the code is not there; it loads then. */
function checkLoaded(part: PartName, collection: string): void {
  if (parts.has(part)) return;
  // The next call that needs it says why it does not load.
  parts.load(part).catch(() => undefined);
  throw notInMemory(collection, `its part "${part}" is loading; name it in the option parts`);
}

/**
 * Refuses a call that would have to wait.
 *
 * @throws {CollectionError} `sync_unavailable`; what all calls of the handle reject with, such as
 *   `schema_newer`.
 */
function checkAtHand(
  collection: HostedCollection,
  op: OperationName,
  declaration: Declaration,
  key?: IdempotencyKey,
): void {
  const { settings, context, queue } = collection;
  const { name, caching } = settings;
  collection.touch();
  if (!caching) throw notInMemory(name, 'it was opened with caching: false');
  const gate = context.keeper.gateOf(declaration);
  if (gate?.error) throw gate.error;
  if (queue.busy || gate?.pending)
    throw notInMemory(name, 'earlier calls wait; await collection.ready first');
  if (declaration) checkVersion(context, op, declaration, key);
}
