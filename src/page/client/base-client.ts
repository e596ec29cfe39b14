import type {
  ClientStatus,
  EventMap,
  EventName,
  Listener,
  SlowQueryEvent,
} from '../../api/events.ts';
import type { DatabaseStorage } from '../../api/options/client-options.ts';
import { parseCollectionOptions } from '../../api/options/collection-options.ts';
import type { TransactionOptions } from '../../api/transaction-options.ts';
import { Emitter } from '../../async/emitter.ts';
import { inMicrotask } from '../../async/next-turn.ts';
import type { CollectionInfo } from '../../backup/usage.ts';
import { CollectionError, closedError, loadFailed } from '../../errors/errors.ts';
import { serverRuntime } from '../../platform/platform.ts';
import { type DatabaseSettings, UNKNOWN_STATUS } from '../../protocol/database-settings.ts';
import type { ClientEvent } from '../../protocol/event-protocol.ts';
import type { CollectionSettings } from '../../protocol/settings.ts';
import type { CommonCalls } from '../calls/common-calls.ts';
import type { FileSource, ImportOptions } from '../calls/file-bytes.ts';
import { cancelUnread } from '../calls/load-file-calls.ts';
import type { Runtime } from '../calls/runtime.ts';
import type { CollectionConstructor } from '../collections/collection-constructor.ts';
import { CollectionHandle } from '../collections/collection-handle.ts';
import type { CollectionOwner } from '../collections/collection-owner.ts';
import { DocumentCollection } from '../collections/document-collection.ts';
import { KeyValueCollection } from '../collections/key-value-collection.ts';
import { CallOrder } from '../connection/call-order.ts';
import type { Connect } from '../connection/leadership.ts';
import type { Transaction } from '../transactions/transaction-types.ts';
import type { DatabaseCalls } from './database-calls.ts';
import type { DatabaseClient } from './database-client.ts';

const EVENT_NAMES: readonly EventName[] = [
  'status',
  'change',
  'save',
  'index',
  'restore',
  'migration',
  'replication',
  'quota',
  'error',
  'slow_query',
];

type AnyHandle = CollectionHandle<CommonCalls, unknown>;

/** A client of a database, over any access to an engine. */
export class BaseClient implements DatabaseClient, CollectionOwner {
  readonly name: string;
  readonly Collection: CollectionConstructor;
  readonly storage: DatabaseStorage;
  readonly #settings: DatabaseSettings;
  readonly #connect: Connect;
  readonly #preload: (() => Promise<unknown>) | undefined;
  readonly #emitter = new Emitter<EventMap>(EVENT_NAMES);
  readonly #types = new Map<string, CollectionSettings['type']>();
  readonly #orders = new Map<string, CallOrder>();
  /**
   * Handles that open with the first call; on a server that never calls, those that the app has.
   */
  #unopened: WeakRef<AnyHandle>[] = [];
  #runtime: Runtime | undefined;
  #loading: Promise<Runtime> | undefined;
  #engine = UNKNOWN_STATUS;
  #watching = false;
  /** Whether new calls are refused: during a close, and after it where no engine ever ran. */
  #refusing = false;

  /** @param preload Loads what `connect` will load. */
  constructor(settings: DatabaseSettings, connect: Connect, preload?: () => Promise<unknown>) {
    this.name = settings.name;
    this.#settings = settings;
    this.#connect = connect;
    this.#preload = preload;
    const client = this;
    this.storage = {
      persist: () => client.#call((calls) => calls.persist()),
      estimate: () => client.#call((calls) => calls.estimate()),
      get status() {
        return client.#call((calls) => calls.status(client.#engine.storage));
      },
    };
    this.#loadEarly();
    // A function, not a class: the options decide which class it constructs.
    this.Collection = function Collection(options: unknown) {
      return client.#construct(options);
    } as unknown as CollectionConstructor;
  }

  get status(): ClientStatus {
    const unloaded = this.#refusing ? 'closed' : 'idle';
    const { state, place } = this.#runtime?.channel ?? { state: unloaded };
    return { state, ...this.#engine, ...place } as ClientStatus;
  }

  get ready(): Promise<void> {
    return this.loadRuntime().then(({ channel }) => channel.open());
  }

  get refusal(): Error | undefined {
    return this.#refusing ? closedError(this.name) : undefined;
  }

  get runtime(): Runtime | undefined {
    return this.#runtime;
  }

  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void {
    const stop = this.#emitter.on(name, listener);
    if (name === 'quota') {
      // If the code cannot be loaded, only this event is missing.
      import('./quota-watch.ts').then(
        ({ watchQuota }) => watchQuota(this, this.#emitter),
        () => undefined,
      );
    }
    this.#watchIfWanted();
    return () => {
      stop();
      this.#watchIfWanted();
    };
  }

  transaction<T>(
    run: (tx: Transaction) => T | Promise<T>,
    options?: TransactionOptions,
  ): Promise<T> {
    return this.#call((calls) => calls.transaction(this, run, options));
  }

  exportAll(): Promise<ReadableStream<Uint8Array>> {
    return this.#call((calls) => calls.exportAll());
  }

  importAll(file: FileSource, options?: ImportOptions): Promise<number> {
    return cancelUnread(
      file,
      this.#call((calls) => calls.importAll(file, options)),
    );
  }

  collections(): Promise<readonly CollectionInfo[]> {
    return this.#call((calls) => calls.collections());
  }

  renameCollection(from: string, to: string): Promise<void> {
    return this.#call((calls) => calls.renameCollection(this, from, to));
  }

  destroy(options?: unknown): Promise<void> {
    return this.#call((calls) => calls.destroy(options), false);
  }

  async save(): Promise<void> {
    await this.#earlierCalls();
    await this.#runtime?.channel.save();
  }

  async close(): Promise<void> {
    this.#refusing = true;
    try {
      // Earlier calls complete; later ones are refused.
      await this.#earlierCalls();
      await (await this.#loading)?.channel.close();
    } finally {
      // From here on the channel refuses calls, if there is one.
      this.#refusing = !this.#runtime;
    }
  }

  loadRuntime(): Promise<Runtime> {
    if (this.#runtime) return Promise.resolve(this.#runtime);
    // Nothing would end an engine that starts after the close.
    if (this.#refusing && !this.#loading) return Promise.reject(closedError(this.name));
    this.#loading ??= this.#load().catch((error: unknown) => {
      this.#loading = undefined;
      throw error;
    });
    return this.#loading;
  }

  orderOf(name: string): CallOrder {
    const order = this.#orders.get(name) ?? new CallOrder();
    this.#orders.set(name, order);
    return order;
  }

  /**
   * A server that renders pages constructs collections and never calls them: memory is empty, so no
   * engine starts.
   */
  get opensEarly(): boolean {
    const { storage } = this.#settings;
    const isEmpty = storage === 'memory' || (!storage && !('indexedDB' in globalThis));
    return !isEmpty || !serverRuntime();
  }

  whenLoaded(collection: AnyHandle): void {
    if (this.#runtime) CollectionHandle.openedBy(this, this.#runtime, collection);
    // Looks through them each time that there are twice as many.
    else if (Math.log2(this.#unopened.push(new WeakRef(collection))) % 1 === 0)
      this.#unopened = this.#unopened.filter((handle) => handle.deref());
  }

  noteOpened({ name, type }: CollectionSettings): void {
    this.#types.set(name, type);
  }

  noteDropped(name: string): void {
    this.#types.delete(name);
  }

  /** Requests the code in pages; a server that renders them may never call. */
  #loadEarly(): void {
    if (serverRuntime()) return;
    // In a microtask: the constructor may touch no global of a browser. The first call tries again,
    // and reports.
    inMicrotask(() => void (this.#refusing || this.loadRuntime().catch(() => undefined)));
  }

  async #load(): Promise<Runtime> {
    // At the same time, which saves a round trip. In a microtask: constructors load early, and may
    // touch no global of a browser. A failure is reported where the code is used.
    Promise.resolve()
      .then(this.#preload)
      .catch(() => undefined);
    const { Runtime } = await import('../calls/runtime.ts').catch(loadFailed);
    this.#runtime = new Runtime(this.#settings, this.#connect, {
      event: (event) => this.#take(event),
      isClosing: () => this.#refusing,
      state: (state) => {
        if (state === 'open') this.#watchIfWanted();
        this.#emitter.emit('status', this.status);
      },
    });
    for (const handle of this.#unopened.splice(0)) {
      const collection = handle.deref();
      if (collection) CollectionHandle.openedBy(this, this.#runtime, collection);
    }
    return this.#runtime;
  }

  /**
   * Runs a call about the whole database, after all earlier calls; one that `opens` nothing waits
   * for none.
   */
  async #call<T>(start: (calls: DatabaseCalls) => Promise<T>, opens = true): Promise<T> {
    if (this.refusal) throw this.refusal;
    if (opens) for (const { busy } of this.#orders.values()) if (busy) await this.#earlierCalls();
    const Calls = loadedDatabaseCalls();
    // Nothing is awaited that is there: a transaction is often shorter than the turns that it would
    // take.
    if (Calls && this.#runtime?.channel.state === 'open') return start(new Calls(this.#runtime));
    const [Loaded, runtime] = await Promise.all([loadDatabaseCalls(), this.loadRuntime()]);
    if (opens) await runtime.channel.open();
    return start(new Loaded(runtime));
  }

  #construct(options: unknown): DocumentCollection | KeyValueCollection {
    const settings = parseCollectionOptions(options);
    const { name, type } = settings;
    const known = this.#types.get(name);
    if (known && known !== type) {
      throw new CollectionError(
        'type_mismatch',
        `Collection "${name}" is ${known}; its type is fixed.`,
        { place: name },
      );
    }
    return type === 'DOCUMENT_BASED'
      ? new DocumentCollection(settings, this)
      : new KeyValueCollection(settings, this);
  }

  /** Resolves when all calls so far have sent their changes. */
  async #earlierCalls(): Promise<void> {
    await Promise.all(
      Array.from(this.#orders.values(), (order) => order.enter(async () => undefined)),
    );
  }

  #take({ type, detail }: ClientEvent | SlowQueryEvent): void {
    if (type === 'status') {
      this.#engine = detail;
      this.#emitter.emit('status', this.status);
    } else this.#emitter.emit(type, detail);
  }

  /** The engine reports changes only while there is a listener: each costs a message. */
  #watchIfWanted(): void {
    const channel = this.#runtime?.channel;
    const wanted = this.#emitter.has('change');
    if (!channel?.place || wanted === this.#watching) return;
    this.#watching = wanted;
    // If the engine is lost, every call rejects.
    channel.watch(wanted)?.catch(() => undefined);
  }
}

let loaded: typeof DatabaseCalls | undefined;

/**
 * The code of calls about the whole database, if it has been loaded: `import()` takes a turn of the
 * event loop each time.
 */
const loadedDatabaseCalls = (): typeof DatabaseCalls | undefined => loaded;

/** @throws {CairnError} `load_failed` */
export async function loadDatabaseCalls(): Promise<typeof DatabaseCalls> {
  const module = await import('./database-calls.ts').catch(loadFailed);
  loaded = module.DatabaseCalls;
  return loaded;
}
