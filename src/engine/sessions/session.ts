import { isPromise } from '../../codec/kinds.ts';
import { asCairnError } from '../../errors/errors.ts';
import type { EngineEvent } from '../../protocol/event-protocol.ts';
import { changedHandles, isChange, isRead, looksInto } from '../../protocol/operations.ts';
import {
  type AcknowledgedChange,
  type BatchReply,
  DATABASE,
  type FirstSequenceNumbers,
  type OpenedHandles,
  type Replayed,
  type Request,
  UNACKNOWLEDGED,
} from '../../protocol/requests.ts';
import { databaseDestroyed } from '../../storage/drivers/database-id.ts';
import type { Watermark } from '../../storage/segments/watermarks.ts';
import type { DatabaseExecutor } from '../database-executor.ts';
import type { EngineEventHub, EventReceiver } from '../engine-events.ts';
import type { Executor } from '../executor.ts';
import type { HostedCollection } from '../hosted-collection.ts';
import type { LiveReader } from '../live/live-reader.ts';
import { SessionLives } from '../live/live-reader.ts';
import type { OpenCollections } from '../open-collections.ts';
import type { SnapshotHolder } from '../records/open-snapshots.ts';
import { parseWatermarkKey, watermarkKey } from '../records/pending-changes.ts';
import type { BatchNumbers, Recovery, RecoverySession } from '../recovery.ts';
import type { ReplayOrder } from '../replay-order.ts';
import { numberChange, SessionHandles, UnfinishedCalls } from './session-handles.ts';
import { StagedRequests } from './staged-requests.ts';

/** The parts of an engine that its sessions work with. */
export interface SessionContext {
  readonly recovery: Recovery;
  readonly batchNumbers: BatchNumbers;
  readonly collections: OpenCollections;
  readonly database: DatabaseExecutor;
  readonly snapshots: SnapshotHolder;
  readonly events: EngineEventHub;
  readonly databaseId: () => Promise<string>;
}

interface SessionClient {
  /** Its name; needed to replay changes. */
  readonly client: string;
  readonly emit: (event: EngineEvent) => void;
  /** Whether the client has ended, and the session only replays its changes. */
  readonly isStandIn: boolean;
}

/**
 * A client's connection to the engine: its handles, its batches, its events.
 *
 * A batch on resident collections is executed without a turn of the event loop.
 */
export class Session implements EventReceiver, RecoverySession {
  readonly client: string;
  readonly emit: (event: EngineEvent) => void;
  readonly context: SessionContext;
  readonly handles: SessionHandles;
  readonly transactions: StagedRequests;
  readonly unfinished = new UnfinishedCalls();
  watching = false;
  readonly #lives: SessionLives;
  readonly #answers = new AnswerOrder();
  /** Batches that wait for the recovery; no later batch may overtake them. */
  #waiting = 0;
  /** Collections changed by replay, outside of a batch. */
  readonly #replayed = new Set<HostedCollection>();

  constructor(context: SessionContext, { client, emit, isStandIn }: SessionClient) {
    this.client = client;
    this.emit = emit;
    this.context = context;
    // Others may open the collection before the client's changes are recovered: its indexes must
    // not refuse theirs.
    this.handles = new SessionHandles(context.collections, isStandIn);
    this.#lives = new SessionLives(emit);
    this.transactions = new StagedRequests(
      client,
      this.handles,
      context.snapshots,
      () => context.database.importing,
    );
    context.events.add(this);
  }

  /**
   * Executes a batch in order. The reply is a promise only if something has to be waited for.
   *
   * @param first The sequence number of the first change through each handle; the others follow. A
   *   change without a number is not recognised when it is replayed.
   */
  execute(
    batch: readonly Request[],
    first?: FirstSequenceNumbers,
  ): BatchReply | Promise<BatchReply> {
    const { recovery } = this.context;
    if (recovery.isOver && this.#waiting === 0) return this.#execute(batch, first);
    // Collections are read from storage meanwhile.
    for (const request of batch) if (request.op === 'open') this.handles.open(request);
    this.#waiting++;
    return recovery.over.then(() => {
      this.#waiting--;
      return this.#execute(batch, first);
    });
  }

  /**
   * Opens the client's handles, and applies its changes, unless they were made to a database that
   * was deleted since.
   *
   * @param known The id of the database that the client knows.
   * @throws {StorageError} `database_destroyed`
   */
  async resume(
    opened: OpenedHandles,
    changes: readonly AcknowledgedChange[],
    known?: string,
  ): Promise<Replayed> {
    const { databaseId, events, recovery } = this.context;
    // It was found before any client listened.
    for (const error of events.damage)
      this.emit({ type: 'error', detail: { collection: undefined, error } });
    let why: unknown;
    const id =
      known &&
      (await databaseId().catch((error: unknown) => {
        why = error;
        return known;
      }));
    if (id !== known) throw databaseDestroyed();
    this.openAll(opened);
    // The client replays again while storage fails.
    const failures = await recovery.replay(this, changes, why);
    // Their callers know the old name.
    this.openAll(opened);
    return { failures, database: await databaseId().catch(() => undefined) };
  }

  /**
   * Applies the changes that another engine acknowledged, except those that it saved.
   *
   * @returns the errors, by index among the changes.
   */
  replay(changes: readonly AcknowledgedChange[]): Promise<ReadonlyMap<number, unknown>> {
    return this.context.recovery.replay(this, changes);
  }

  /** Opens handles, to replay changes through them, but those that are open by that name. */
  openAll(opened: OpenedHandles): void {
    for (const [handle, settings] of opened)
      if (this.handles.all.get(handle)?.settings.name !== settings.name)
        this.handles.open({ handle, settings });
  }

  /**
   * Leads the handles of changes to collections that were renamed.
   *
   * @returns the promises to wait for, before it is called again.
   */
  follow(changes: readonly AcknowledgedChange[]): readonly unknown[] {
    return changes.flatMap(({ request }) =>
      changedHandles(request).flatMap((handle) => this.handles.follow(handle) ?? []),
    );
  }

  /** Applies a replayed change, unless it was applied before. */
  async reapply(change: AcknowledgedChange, order: ReplayOrder): Promise<void> {
    const { request } = change;
    for (const collection of this.collectionsOf(request)) this.#replayed.add(collection);
    try {
      if (request.op === 'commit') await this.transactions.reapply(request, order);
      else await this.#reapplyOne(change, order);
    } catch (error) {
      // The last part says whether all of an `insertMany` is applied.
      if (request.op === 'insertPart' && !request.last) return;
      if ((error as { code?: string }).code !== 'answer_lost') throw error;
      for (const handle of changedHandles(request)) this.#tellSaved(handle);
    }
  }

  async #reapplyOne(change: AcknowledgedChange, order: ReplayOrder): Promise<void> {
    const { request, number, turn } = change;
    const isTold = turn < UNACKNOWLEDGED;
    const { collection, settings } = this.handles.of(request);
    const key = { client: this.client, handle: request.handle, number, isTold };
    const applied = collection.reapply(request, key, settings, order);
    this.unfinished.notePart(collection, request);
    await applied;
  }

  /** Tells the client which changes of a handle storage has. */
  #tellSaved(handle: number): void {
    const log = this.handles.all.get(handle)?.collection.records.log;
    const watermark = log?.watermarks.get(watermarkKey({ client: this.client, handle }));
    if (watermark) this.tellReleased([watermark]);
  }

  /** Must be called after a replay. */
  settleAll(): void {
    this.context.collections.settle(this.#replayed);
    this.#replayed.clear();
  }

  /** @throws why the request has to wait for acknowledged changes. */
  checkOverdue(request: Request): void {
    if (!looksInto(request)) return;
    const isOfAll = request.handle === DATABASE && request.op !== 'commit';
    this.context.recovery.overdue.check(isOfAll ? undefined : this.namesOf(request));
  }

  /** Whether it waits for missing changes: nobody asks again for a live query. */
  #isHeld(request: Request): boolean {
    try {
      this.checkOverdue(request);
      return false;
    } catch (error) {
      if (request.op !== 'live') throw error;
      const reader = this.#lives.readerFor(request);
      this.context.recovery.overdue.after(() => this.#beginLate(request, reader));
      return true;
    }
  }

  async #beginLate(request: Request, reader: LiveReader | undefined): Promise<void> {
    try {
      const { collection, declaration } = this.handles.of(request);
      await collection.execute(this.handles.withPartners(request), reader, undefined, declaration);
    } catch (error) {
      reader?.fail(error);
    }
  }

  tellReleased(watermarks: readonly Watermark[]): void {
    for (const [key, number, , missed] of watermarks) {
      const { client, handle } = parseWatermarkKey(key);
      if (client === this.client)
        this.emit({ type: 'released', detail: { handle, number, missed } });
    }
  }

  /** Saves every collection, with the changes of all earlier requests. */
  async save(): Promise<void> {
    const { recovery, collections } = this.context;
    if (this.#waiting > 0) await recovery.over;
    await collections.save();
  }

  /** Ends the session; the engine goes on for the others. */
  leave(): void {
    this.context.recovery.leave(this);
    this.transactions.endAll();
    this.handles.closeAll();
    this.#lives.endAll();
    this.unfinished.endAll(this.context.events.remove(this));
  }

  #execute(
    batch: readonly Request[],
    first?: FirstSequenceNumbers,
  ): BatchReply | Promise<BatchReply> {
    const { batchNumbers, collections, database, recovery } = this.context;
    const { overdue } = recovery;
    const turn = batchNumbers.allocate();
    // Most batches are one read, which needs none of these.
    const numbers = first && first.length > 0 ? new Map(first) : undefined;
    let failures: Map<number, unknown> | undefined;
    const fail = (index: number, error: unknown): void => {
      failures ??= new Map();
      failures.set(index, asCairnError(error));
    };
    const values: unknown[] = new Array(batch.length);
    const executing: Promise<void>[] = [];
    const touched = new Set<HostedCollection>();
    for (let index = 0; index < batch.length; index++) {
      try {
        const request = this.handles.withPartners(batch[index] as Request);
        if (overdue.areThere && this.#isHeld(request)) continue;
        const handle = request.handle === DATABASE ? undefined : this.handles.of(request);
        const isStaged = request.transaction !== undefined;
        const executor = isStaged ? this.transactions : (handle?.collection ?? database);
        if (!isRead(request)) for (const one of this.collectionsOf(request)) touched.add(one);
        const key = numbers && numberChange(request, this.client, numbers);
        const reader = this.#lives.readerFor(request);
        const value = executor.execute(request, reader, key, handle?.declaration);
        this.unfinished.notePart(executor, request);
        const answer = (answered: unknown): void => {
          values[index] = answered;
          this.unfinished.note(executor, request, answered);
        };
        if (!isPromise(value)) answer(value);
        else {
          this.unfinished.begin(executor, request, value);
          executing.push(value.then(answer).catch((error: unknown) => fail(index, error)));
        }
      } catch (error) {
        fail(index, error);
      }
    }
    if (touched.size > 0) collections.settle(touched);
    const reply = (): BatchReply => ({ values, failures, turn: turn() });
    /** After the updates of the session's live queries: they show the session's own changes. */
    const replyAfterNews = () => {
      const caughtUp = touched.size > 0 && batch.some(isChange) && this.#lives.catchUp(touched);
      return caughtUp ? caughtUp.then(reply) : reply();
    };
    const answer =
      executing.length === 0 && this.#answers.isIdle
        ? replyAfterNews()
        : this.#answers.answer(this.#changedBy(batch), executing, () => {
            if (executing.length > 0 && touched.size > 0) collections.settle(touched);
            return replyAfterNews();
          });
    if (isPromise(answer)) for (const collection of touched) collection.saves.holdUntil(answer);
    return answer;
  }

  #changedBy(batch: readonly Request[]): ReadonlySet<Executor> {
    return new Set(batch.filter(isChange).flatMap((request) => this.collectionsOf(request)));
  }

  /** The names of the collections that a request changes or looks into. */
  namesOf(request: Request): readonly string[] {
    const handles = [...changedHandles(request), ...(request.related?.partners ?? [])];
    return handles.flatMap((one) =>
      typeof one === 'string' ? one : (this.handles.all.get(one)?.settings.name ?? []),
    );
  }

  collectionsOf(request: Request): readonly HostedCollection[] {
    const found: HostedCollection[] = [];
    // Hot path: unlike `flatMap`, the loop makes no list for each handle.
    for (const handle of changedHandles(request)) {
      const collection = this.handles.all.get(handle)?.collection;
      if (collection) found.push(collection);
    }
    return found;
  }
}

/**
 * Keeps the answers to changes of a collection in the order of the changes. When an engine is lost,
 * its client replays the acknowledged changes and then retries the others: that is the original
 * order only if no later change was acknowledged before an earlier one.
 */
class AnswerOrder {
  /** The last answer that is due, by collection. */
  readonly #due = new Map<Executor, Promise<unknown>>();

  /** Whether no answer is due, so that the next need not wait. */
  get isIdle(): boolean {
    return this.#due.size === 0;
  }

  /**
   * Answers once a batch is executed and the earlier answers of the collections it changes are
   * given.
   *
   * @param executing The requests of the batch that are still being executed.
   */
  answer<T>(
    changed: ReadonlySet<Executor>,
    executing: readonly Promise<void>[],
    reply: () => T | Promise<T>,
  ): T | Promise<T> {
    const before = [...changed].flatMap((collection) => this.#due.get(collection) ?? []);
    if (executing.length === 0 && before.length === 0) return reply();
    const answered = Promise.all([...executing, ...before]).then(reply);
    for (const collection of changed) {
      this.#due.set(collection, answered);
      const settled = () => {
        if (this.#due.get(collection) === answered) this.#due.delete(collection);
      };
      answered.then(settled, settled);
    }
    return answered;
  }
}
