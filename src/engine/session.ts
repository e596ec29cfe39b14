import { asCairnError } from '../errors/as-cairn-error.ts';
import type { CairnError } from '../errors/cairn-error.ts';
import { CollectionError } from '../errors/collection-error.ts';
import type { Watermark } from '../storage/segments/watermarks.ts';
import { dropped, notInMemory, typeMismatch } from './collection-errors.ts';
import type { HostedCollection } from './hosted-collection.ts';
import { SessionLives } from './live/session-lives.ts';
import { type Executor, OpenReads } from './open-reads.ts';
import { DATABASE } from './protocol/database-protocol.ts';
import {
  type FirstSequenceNumbers,
  type IdempotencyKey,
  parseWatermarkKey,
  watermarkKey,
} from './protocol/idempotency-key.ts';
import { isEdit, isRead } from './protocol/request-kinds.ts';
import type {
  AcknowledgedChange,
  BatchReply,
  EngineEvent,
  OpenedHandles,
  Request,
} from './protocol/requests.ts';
import { type CollectionSettings, suits } from './protocol/settings.ts';
import type { Recovery } from './recovery.ts';

/** A handle that cannot have its collection for now: what it asks for, and why it has it not. */
interface Refused {
  readonly settings: CollectionSettings;
  readonly error: CairnError;
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
  /** Collections by the number that the door gave its handle. */
  readonly #handles = new Map<number, HostedCollection | Refused>();
  /** Where changes are made again through handles that are refused: others have declared other indexes since. */
  readonly #inherited = new Map<number, HostedCollection>();
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
  ) {
    this.client = client;
    this.#engine = engine;
    this.emit = emit;
    this.#leave = leave;
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
    for (const request of batch) if (request.op === 'open') this.#open(request.settings);
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
    const collection = this.#inherited.get(request.handle) ?? this.#collectionFor(request);
    this.#touched.add(collection);
    try {
      const { client } = this;
      const origin = { client, handle: request.handle, number };
      const made = collection.execute(request, undefined, origin);
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
    this.#inherited.clear();
  }

  /** Opens collections under their handles, to make changes again. */
  openAll(opened: OpenedHandles): void {
    for (const [handle, settings] of opened) {
      const found = this.#open(settings);
      this.#handles.set(handle, found);
      if ('error' in found && found.error.code === 'index_mismatch')
        this.#inherited.set(handle, this.#engine.open(settings));
    }
  }

  /** Whether a handle leads to a collection. */
  holds(collection: HostedCollection): boolean {
    for (const handles of [this.#handles, this.#inherited])
      for (const held of handles.values()) if (held === collection) return true;
    return false;
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
        const executor = this.#executorFor(request, touched);
        const origin = numbers && this.#originOf(request, numbers);
        const value = executor.execute(request, this.#lives.readerFor(request), origin);
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
    if (waiting.length === 0 && this.#owed.size === 0) return reply();
    return this.#answerInOrder(batch, waiting, () => {
      if (waiting.length > 0 && touched.size > 0) this.#engine.settle(touched);
      return reply();
    });
  }

  /**
   * Answers once all is done. Changes of a collection are answered in the order of their numbers: where the engine
   * is lost, those that were not answered come after all that were, and are made after them.
   */
  #answerInOrder(
    batch: readonly Request[],
    waiting: readonly Promise<void>[],
    reply: () => BatchReply,
  ): BatchReply | Promise<BatchReply> {
    const changed = new Set<Executor>();
    for (const request of batch) {
      const collection = this.#handles.get(request.handle);
      if (isEdit(request) && collection && !('error' in collection)) changed.add(collection);
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
  executeNow(request: Request, first?: FirstSequenceNumbers): BatchReply {
    const collection = this.#collectionFor(request);
    if (!this.#engine.recovery.isOver)
      throw notInMemory(collection.settings.name, 'the database is opening; await db.ready first');
    const isReading = isRead(request);
    // Reads are never made again, and there are many of them.
    const turn = isReading ? undefined : this.#engine.takeTurn();
    try {
      const origin = first && this.#originOf(request, new Map(first));
      const answer = collection.executeNow(request, origin);
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
    this.#handles.clear();
    this.#inherited.clear();
    this.#lives.endAll();
    this.#reads.endAll(this.#leave());
  }

  /** @param touched Takes the collection, where it is one. */
  #executorFor(request: Request, touched: Set<HostedCollection>): Executor {
    if (request.handle === DATABASE) return this.#engine;
    const collection = this.#collectionFor(request);
    if (!isRead(request)) touched.add(collection);
    return collection;
  }

  #collectionFor(request: Request): HostedCollection {
    const { handle } = request;
    let held = this.#handles.get(handle);
    // Whoever stood against what was refused may be gone.
    if (request.op === 'open' || (held && 'error' in held)) {
      held = this.#open(request.op === 'open' ? request.settings : (held as Refused).settings);
      this.#handles.set(handle, held);
    }
    if (!held) throw dropped();
    if (!('error' in held)) return held;
    if (request.op === 'live') this.#lives.refuse(request.live);
    throw held.error;
  }

  /** Somebody has left, who may have stood against what was refused here. */
  retry(): void {
    this.#lives.retry();
  }

  /** The collection, or why the handle cannot have it. */
  #open(settings: CollectionSettings): HostedCollection | Refused {
    const opened = this.#engine.open(settings);
    const { name, type, indexes } = opened.settings;
    if (type !== settings.type) return { settings, error: typeMismatch(name, type, settings.type) };
    return suits(settings.indexes, indexes) ? opened : { settings, error: indexMismatch(name) };
  }
}

function indexMismatch(name: string): CollectionError {
  return new CollectionError(
    'index_mismatch',
    `Collection "${name}" is open with other indexes, here or in another tab; declare the same list everywhere, and close tabs with an older app.`,
    { place: name },
  );
}
