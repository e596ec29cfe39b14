import { CallOrder } from '../collection/calls/call-order.ts';
import type { FileSource, ImportOptions } from '../collection/calls/file-bytes.ts';
import { callsBegun, loadFailed } from '../collection/calls/load-calls.ts';
import { Port } from '../collection/calls/port.ts';
import type { CollectionConstructor } from '../collection/collection-constructor.ts';
import { DocumentCollection } from '../collection/document-collection.ts';
import { Emitter } from '../collection/emitter.ts';
import type { ClientStatus, EventName, Listener } from '../collection/events.ts';
import { KeyValueCollection } from '../collection/key-value-collection.ts';
import { parseCollectionOptions } from '../collection/options/collection-options.ts';
import type { ClientEvent, EngineStatus } from '../engine/protocol/requests.ts';
import type { CollectionSettings } from '../engine/protocol/settings.ts';
import { CollectionError } from '../errors/collection-error.ts';
import type { Connect, DatabaseSettings } from '../transport/channel/channel.ts';
import { closedError, Link } from '../transport/channel/link.ts';
import type { DatabaseCall } from './database-calls.ts';
import type { DatabaseStorage, StorageStatus } from './database-storage.ts';

/** What both doors are: {@link Database} with the engine in this thread, `connect()` with it in a worker. */
export interface DatabaseClient {
  readonly name: string;
  /**
   * Makes a collection, or opens it if it exists. Usable at once; calls wait until it is open.
   *
   * @throws {OptionError} for a bad option, naming it; {CollectionError} `type_mismatch`.
   */
  readonly Collection: CollectionConstructor;
  readonly status: ClientStatus;
  /** What the browser lets the database keep. */
  readonly storage: DatabaseStorage;
  /** Resolves once the engine runs and storage is open; starts them if need be. */
  readonly ready: Promise<void>;
  /** Listens to an event. Returns the function that stops it. */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void;
  /**
   * Writes all collections as one file, each as of now: gzip, one line of JSON for each document. The stream makes
   * its bytes as they are read, whatever the size.
   *
   * @throws {StorageError} when a collection cannot be read.
   */
  exportAll(): Promise<ReadableStream<Uint8Array>>;
  /**
   * Reads a file that `exportAll()` or `exportBackup()` wrote into the collections that it names, all or nothing.
   * Others stay as they are. What they held before becomes a backup of each.
   *
   * @returns how many documents came.
   * @throws {BackupError} for what is no such file, is cut off, damaged or of a newer version; nothing is changed.
   */
  importAll(file: FileSource, options?: ImportOptions): Promise<number>;
  /** Resolves when everything so far, in all collections, is in storage. */
  save(): Promise<void>;
  /**
   * Saves, then releases everything; later calls reject. When saving fails it rejects, and the door stays
   * open so that nothing is lost.
   */
  close(): Promise<void>;
}

const nothingYet: EngineStatus = {
  storage: undefined,
  tabs: 0,
  unsaved: 0,
  unsaved_since: undefined,
  last_save: undefined,
  last_error: undefined,
};

/** A door over whatever way to an engine it is given. */
export class BaseClient implements DatabaseClient {
  readonly name: string;
  readonly Collection: CollectionConstructor;
  readonly storage: DatabaseStorage;
  readonly #link: Link;
  readonly #emitter = new Emitter();
  readonly #types = new Map<string, CollectionSettings['type']>();
  readonly #turns = new Map<string, CallOrder>();
  #engine = nothingYet;
  #watching = false;
  #closing = false;

  constructor(settings: DatabaseSettings, connect: Connect) {
    this.name = settings.name;
    this.#link = new Link(settings, connect, {
      event: (event) => this.#take(event),
      state: (state) => {
        if (state === 'open') this.#watchIfAsked();
        this.#emitter.emit('status', this.status);
      },
    });
    const status = () => this.#own<StorageStatus>('status');
    this.storage = {
      persist: () => this.#own('persist'),
      estimate: () => this.#own('estimate'),
      get status() {
        return status();
      },
    };
    const open = (options: unknown) => this.#open(options);
    // A function and not a class, because what it constructs depends on the options.
    this.Collection = function Collection(options: unknown) {
      return open(options);
    } as unknown as CollectionConstructor;
  }

  get status(): ClientStatus {
    const { channel, state } = this.#link;
    return { state, ...this.#engine, ...channel?.place } as ClientStatus;
  }

  get ready(): Promise<void> {
    return this.#link.open().then(() => undefined);
  }

  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void {
    const stop = this.#emitter.on(name, listener);
    if (name === 'quota') {
      // Without it nobody is told, and everything else works.
      import('./quota-watch.ts').then(
        ({ watchQuota }) => watchQuota(this, this.#emitter),
        () => undefined,
      );
    }
    this.#watchIfAsked();
    return () => {
      stop();
      this.#watchIfAsked();
    };
  }

  exportAll(): Promise<ReadableStream<Uint8Array>> {
    return this.#own('exportAll');
  }

  importAll(file: FileSource, options?: ImportOptions): Promise<number> {
    return this.#own('importAll', file, options);
  }

  /** Runs a call about the whole database, once everything called before has been sent. */
  async #own<T>(name: DatabaseCall, ...args: unknown[]): Promise<T> {
    await this.#takeTurns();
    const { DatabaseCalls } = await import('./database-calls.ts').catch(loadFailed);
    return DatabaseCalls.run(name, args, this.#link, () => this.#engine.storage) as T;
  }

  async save(): Promise<void> {
    await this.#takeTurns();
    await this.#link.save();
  }

  async close(): Promise<void> {
    this.#closing = true;
    try {
      // What was called before goes on to its end; what is called from now on is refused.
      await this.#takeTurns();
      await this.#link.close();
    } finally {
      this.#closing = false;
    }
  }

  #open(options: unknown): DocumentCollection | KeyValueCollection {
    const settings = parseCollectionOptions(options);
    const { name, type } = settings;
    const known = this.#types.get(name);
    if (known && known !== type) {
      throw new CollectionError(
        'type_mismatch',
        `Collection "${name}" is ${known}; its type cannot be changed.`,
        { place: name },
      );
    }
    let turns = this.#turns.get(name);
    if (!turns) {
      turns = new CallOrder();
      this.#turns.set(name, turns);
    }
    const port = new Port(this.#link, settings, turns, {
      opened: () => this.#types.set(name, type),
      dropped: () => this.#types.delete(name),
      refusal: () => (this.#closing ? closedError(this.name) : undefined),
    });
    return type === 'DOCUMENT_BASED'
      ? new DocumentCollection(settings, port, this)
      : new KeyValueCollection(settings, port, this);
  }

  /** Resolves when every call made so far has sent all that it has to send to change something. */
  async #takeTurns(): Promise<void> {
    await callsBegun();
    await Promise.all(
      Array.from(this.#turns.values(), (turns) => turns.enter(() => Promise.resolve())),
    );
  }

  #take({ type, detail }: ClientEvent): void {
    if (type === 'status') {
      this.#engine = detail;
      this.#emitter.emit('status', this.status);
    } else this.#emitter.emit(type, detail);
  }

  /** Changes cost a message each, so the engine only tells them while somebody listens. */
  #watchIfAsked(): void {
    const { channel } = this.#link;
    const wanted = this.#emitter.has('change');
    if (!channel || wanted === this.#watching) return;
    this.#watching = wanted;
    // When the engine is lost, every call says so.
    channel.watch(wanted).catch(() => undefined);
  }
}
