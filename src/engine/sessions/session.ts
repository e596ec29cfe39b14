import { asCairnError } from '../../errors/as-cairn-error.ts';
import type { CairnError } from '../../errors/cairn-error.ts';
import type { Watermark } from '../../storage/segments/watermarks.ts';
import { dropped, notInMemory, typeMismatch } from '../collection-errors.ts';
import type { HostedCollection } from '../collections/hosted-collection.ts';
import type { IndexDeclaration } from '../documents/index-declarations.ts';
import { SessionLives } from '../live/session-lives.ts';
import { DATABASE } from '../protocol/database-protocol.ts';
import {
  type FirstSequenceNumbers,
  type IdempotencyKey,
  parseWatermarkKey,
  watermarkKey,
} from '../protocol/idempotency-key.ts';
import { isEdit, isRead } from '../protocol/request-kinds.ts';
import type {
  AcknowledgedChange,
  BatchReply,
  EngineEvent,
  OpenedHandles,
  Request,
} from '../protocol/requests.ts';
import type { CollectionSettings } from '../protocol/settings.ts';
import type { Recovery } from '../recovery/recovery.ts';
import { type Executor, OpenReads } from './open-reads.ts';

/** A handle of the client. */
interface Handle {
  readonly settings: CollectionSettings;
  readonly collection: HostedCollection;
  /** What it declares; left out where it cannot have the collection. */
  readonly declaration: IndexDeclaration | undefined;
  /** Why it cannot have the collection: it is of another type. */
  readonly error: CairnError | undefined;
}

/** What a session needs of its engine. */
export interface SessionHost extends Executor {
  readonly recovery: Recovery;
  /** The turn of a batch that begins now; what it returns says where that is among all turns. */
  takeTurn(): () => number;
  open(settings: CollectionSettings): HostedCollection;
  settle(touched: Iterable<HostedCollection>): void;
  save(): Promise<void>;
}

/**
 * One door's way into an engine: its collection handles, its batches, what it wants to be told.
 *
 * A batch whose collections are resident is executed without a single turn of the event loop.
 */
export class Session {
  readonly emit: (event: EngineEvent) => void;
  /** Who asks. */
  readonly client: string;
  /** Whether changes are to be told. */
  watching = false;
  readonly #engine: SessionHost;
  readonly #leave: () => boolean;
  /** Whether the client is gone, and the session stands in for it. */
  readonly #isStandIn: boolean;
  /** Collections by the number that the door gave its handle. */
  readonly #handles = new Map<number, Handle>();
  readonly #reads = new OpenReads();
  readonly #lives: SessionLives;

  /** Batches that wait for the recovery; no later one may pass them. */
  #held = 0;
  /** Batches with changes that are not answered yet, the last of each collection. */
  readonly #owed = new Map<Executor, Promise<unknown>>();
  /** Collections that were changed outside of a batch. */
  readonly #touched = new Set<HostedCollection>();

  /** @param leave Called when it ends; returns whether that was the last session of the client. */
  constructor(
    engine: SessionHost,
    client: string,
    emit: (event: EngineEvent) => void,
    leave: () => boolean,
    isStandIn: boolean,
  ) {
    this.client = client;
    this.#engine = engine;
    this.emit = emit;
    this.#leave = leave;
    this.#isStandIn = isStandIn;
    this.#lives = new SessionLives(emit);
  }

  /**
   * Executes a batch in order. The reply is a promise only if something has to be waited for.
   *
   * @param first The client's own number of the first change through each handle; the others follow. Without it no
   *   change is known again when it is handed on.
   */
  execute(
    batch: readonly Request[],
    first?: FirstSequenceNumbers,
  ): BatchReply | Promise<BatchReply> {
    const { recovery } = this.#engine;
    if (recovery.isOver && this.#held === 0) return this.#execute(batch, first);
    // Collections are being read meanwhile.
    for (const request of batch) if (request.op === 'open') this.#open(request);
    this.#held++;
    return recovery.over.then(() => {
      this.#held--;
      return this.#execute(batch, first);
    });
  }

  /**
   * Hands on what the client was told of by another engine, and makes it again unless it was saved.
   *
   * @returns what could not be made again, by its place in the list.
   */
  replay(changes: readonly AcknowledgedChange[]): Promise<ReadonlyMap<number, unknown>> {
    return this.#engine.recovery.replay(this, changes);
  }

  /** Makes a change again, unless it is known to be made. */
  async reapply({ request, number }: AcknowledgedChange): Promise<void> {
    const { collection, settings } = this.#handleOf(request);
    this.#touched.add(collection);
    try {
      const { client } = this;
      const origin = { client, handle: request.handle, number };
      const made = collection.reapply(request, origin, settings.indexes);
      this.#reads.notePart(collection, request);
      await made;
    } catch (error) {
      // Where it cannot be made, or is made, the last part says so.
      if (request.op === 'insertPart' && !request.last) return;
      if ((error as { code?: string }).code !== 'answer_lost') throw error;
      const { client } = this;
      const watermark = collection.records.log.watermarks.get(
        watermarkKey({ client, handle: request.handle }),
      );
      if (watermark) this.tellReleased([watermark]);
    }
  }

  /** Tells the client which of its changes need not be handed on any more. */
  tellReleased(watermarks: readonly Watermark[]): void {
    for (const [origin, number, , missed] of watermarks) {
      const { client, handle } = parseWatermarkKey(origin);
      if (client === this.client)
        this.emit({ type: 'released', detail: { handle, number, missed } });
    }
  }

  /** @param next Numbers of the next change by handle; moves on. */
  #originOf(request: Request, next: Map<number, number>): IdempotencyKey | undefined {
    const { handle } = request;
    const number = next.get(handle);
    if (number === undefined || !isEdit(request)) return undefined;
    next.set(handle, number + 1);
    return { client: this.client, handle, number };
  }

  /** To be called after changes that were made again. */
  settleAll(): void {
    this.#engine.settle(this.#touched);
    this.#touched.clear();
  }

  /** Opens collections under their handles, to make changes again. */
  openAll(opened: OpenedHandles): void {
    for (const [handle, settings] of opened) this.#open({ handle, settings });
  }

  #execute(
    batch: readonly Request[],
    first?: FirstSequenceNumbers,
  ): BatchReply | Promise<BatchReply> {
    const turn = this.#engine.takeTurn();
    const numbers = first && new Map(first);
    const values: unknown[] = new Array(batch.length);
    const failures = new Map<number, unknown>();
    const waiting: Promise<void>[] = [];
    const touched = new Set<HostedCollection>();
    for (let index = 0; index < batch.length; index++) {
      try {
        const request = batch[index] as Request;
        const handle = request.handle === DATABASE ? undefined : this.#handleOf(request);
        const executor = handle?.collection ?? this.#engine;
        if (handle && !isRead(request)) touched.add(handle.collection);
        const origin = numbers && this.#originOf(request, numbers);
        const reader = this.#lives.readerFor(request);
        const value = executor.execute(request, reader, origin, handle?.declaration);
        this.#reads.notePart(executor, request);
        const answer = (answered: unknown): void => {
          values[index] = answered;
          this.#reads.note(executor, request, answered);
        };
        if (!(value instanceof Promise)) answer(value);
        else {
          const fail = (error: unknown) => void failures.set(index, asCairnError(error));
          this.#reads.begin(executor, request, value);
          waiting.push(value.then(answer).catch(fail));
        }
      } catch (error) {
        failures.set(index, asCairnError(error));
      }
    }
    if (touched.size > 0) this.#engine.settle(touched);
    const reply = (): BatchReply => ({
      values,
      failures: failures.size > 0 ? failures : undefined,
      turn: turn(),
    });
    /** After the news of the session's live queries: they show what its own calls have changed. */
    const replyAfterNews = () => {
      const caughtUp = batch.some(isEdit) && this.#lives.catchUp(touched);
      return caughtUp ? caughtUp.then(reply) : reply();
    };
    if (waiting.length === 0 && this.#owed.size === 0) return replyAfterNews();
    return this.#answerInOrder(batch, waiting, () => {
      if (waiting.length > 0 && touched.size > 0) this.#engine.settle(touched);
      return replyAfterNews();
    });
  }

  /**
   * Answers once all is done. Changes of a collection are answered in the order of their numbers: where the engine
   * is lost, those that were not answered come after all that were, and are made after them.
   */
  #answerInOrder(
    batch: readonly Request[],
    waiting: readonly Promise<void>[],
    reply: () => BatchReply | Promise<BatchReply>,
  ): BatchReply | Promise<BatchReply> {
    const changed = new Set<Executor>();
    for (const request of batch) {
      const handle = this.#handles.get(request.handle);
      if (isEdit(request) && handle) changed.add(handle.collection);
    }
    const before = [...changed].flatMap((collection) => this.#owed.get(collection) ?? []);
    if (waiting.length === 0 && before.length === 0) return reply();
    const answered = Promise.all([...waiting, ...before]).then(reply);
    for (const collection of changed) {
      this.#owed.set(collection, answered);
      const settled = () => {
        if (this.#owed.get(collection) === answered) this.#owed.delete(collection);
      };
      answered.then(settled, settled);
    }
    return answered;
  }

  /** Executes one request without waiting for anything, or throws. */
  executeSync(request: Request, first?: FirstSequenceNumbers): BatchReply {
    const { collection, declaration } = this.#handleOf(request);
    if (!this.#engine.recovery.isOver)
      throw notInMemory(collection.settings.name, 'the database is opening; await db.ready first');
    const isReading = isRead(request);
    // Reads are never made again, and there are many of them.
    const turn = isReading ? undefined : this.#engine.takeTurn();
    try {
      const origin = first && this.#originOf(request, new Map(first));
      const answer = collection.executeSync(request, origin, declaration);
      this.#reads.note(collection, request, answer);
      return { values: [answer], failures: undefined, turn: turn?.() ?? 0 };
    } finally {
      if (!isReading) this.#engine.settle([collection]);
    }
  }

  /** Saves every collection, with all that was asked before. */
  async save(): Promise<void> {
    if (this.#held > 0) await this.#engine.recovery.over;
    await this.#engine.save();
  }

  /** Ends the session; the engine goes on for the others. */
  leave(): void {
    for (const handle of this.#handles.values()) this.#close(handle);
    this.#handles.clear();
    this.#lives.endAll();
    this.#reads.endAll(this.#leave());
  }

  /** @throws {CollectionError} `collection_dropped`, `type_mismatch` */
  #handleOf(request: Request): Handle {
    let handle = this.#handles.get(request.handle);
    if (request.op === 'open') handle = this.#open(request);
    // The collection of another type may have been dropped meanwhile.
    else if (handle?.error) handle = this.#open({ ...handle, handle: request.handle });
    if (!handle) throw dropped();
    if (handle.error) throw handle.error;
    return handle;
  }

  /** Opens a handle. One that was opened while the engine took over is the one. */
  #open({ handle: number, settings }: Pick<Request<'open'>, 'handle' | 'settings'>): Handle {
    const before = this.#handles.get(number);
    const collection = this.#engine.open(settings);
    if (before?.settings === settings && before.collection === collection) return before;
    const { name, type } = settings;
    const isOther = collection.settings.type !== type;
    const handle: Handle = {
      settings,
      collection,
      declaration: isOther ? undefined : collection.declare(settings),
      error: isOther ? typeMismatch(name, collection.settings.type, type) : undefined,
    };
    this.#handles.set(number, handle);
    if (before) this.#close(before);
    return handle;
  }

  /** Indexes that a client has left behind go at once: others may open the collection before it is recovered, and none after. */
  #close({ collection, declaration }: Handle): void {
    if (declaration) collection.retract(declaration, this.#isStandIn);
  }
}
