import { asCairnError } from '../errors/as-cairn-error.ts';
import { CairnError } from '../errors/cairn-error.ts';
import { CollectionError } from '../errors/collection-error.ts';
import { dropped, typeMismatch } from './collection-errors.ts';
import { DATABASE } from './database-protocol.ts';
import type { HostedCollection } from './hosted-collection.ts';
import { SessionLives } from './live/session-lives.ts';
import { type Executor, OpenReads } from './open-reads.ts';
import type { BatchReply, EngineEvent, Request } from './protocol.ts';
import type { CollectionSettings } from './settings.ts';

type Indexes = CollectionSettings['indexes'];

/** What a session needs of its engine. */
export interface SessionHost extends Executor {
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
  /** Whether changes are to be told. */
  watching = false;
  readonly #engine: SessionHost;
  readonly #leave: () => void;
  /** Collections by the number that the door gave its handle. */
  readonly #handles = new Map<number, HostedCollection | CairnError>();
  readonly #reads = new OpenReads();
  readonly #lives: SessionLives;

  constructor(engine: SessionHost, emit: (event: EngineEvent) => void, leave: () => void) {
    this.#engine = engine;
    this.emit = emit;
    this.#leave = leave;
    this.#lives = new SessionLives(emit);
  }

  /** Executes a batch in order. The reply is a promise only if something has to be waited for. */
  execute(batch: readonly Request[]): BatchReply | Promise<BatchReply> {
    const values: unknown[] = new Array(batch.length);
    const failures = new Map<number, unknown>();
    const waiting: Promise<void>[] = [];
    const touched = new Set<HostedCollection>();
    for (let index = 0; index < batch.length; index++) {
      try {
        const request = batch[index] as Request;
        const executor = this.#executorFor(request, touched);
        const value = executor.execute(request, this.#lives.readerFor(request));
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
    this.#engine.settle(touched);
    const reply = (): BatchReply => ({
      values,
      failures: failures.size > 0 ? failures : undefined,
    });
    if (waiting.length === 0) return reply();
    return Promise.all(waiting).then(() => {
      this.#engine.settle(touched);
      return reply();
    });
  }

  /** Executes one request without waiting for anything, or throws. */
  executeNow(request: Request): unknown {
    const collection = this.#collectionFor(request);
    try {
      const answer = collection.executeNow(request);
      this.#reads.note(collection, request, answer);
      return answer;
    } finally {
      this.#engine.settle([collection]);
    }
  }

  save(): Promise<void> {
    return this.#engine.save();
  }

  /** Ends the session; the engine goes on for the others. */
  leave(): void {
    this.#handles.clear();
    this.#reads.endAll();
    this.#lives.endAll();
    this.#leave();
  }

  /** @param touched Takes the collection, where it is one. */
  #executorFor(request: Request, touched: Set<HostedCollection>): Executor {
    if (request.handle === DATABASE) return this.#engine;
    const collection = this.#collectionFor(request);
    touched.add(collection);
    return collection;
  }

  #collectionFor(request: Request): HostedCollection {
    if (request.op === 'open') this.#handles.set(request.handle, this.#open(request.settings));
    const collection = this.#handles.get(request.handle);
    if (!collection) throw dropped();
    if (collection instanceof CairnError) throw collection;
    return collection;
  }

  /** The collection, or why the handle cannot have it. */
  #open(settings: CollectionSettings): HostedCollection | CairnError {
    const opened = this.#engine.open(settings);
    const { name, type, indexes } = opened.settings;
    if (type !== settings.type) return typeMismatch(name, type, settings.type);
    // Whoever declares none does not care; a unique index that is left out in silence would be a trap.
    const other = settings.indexes.length > 0 && isDifferent(settings.indexes, indexes);
    return other ? indexMismatch(name) : opened;
  }
}

function isDifferent(declared: Indexes, open: Indexes): boolean {
  return JSON.stringify(declared) !== JSON.stringify(open);
}

function indexMismatch(name: string): CollectionError {
  return new CollectionError(
    'index_mismatch',
    `Collection "${name}" is open with other indexes; declare the same list wherever it is constructed, or close the database first.`,
    { place: name },
  );
}
