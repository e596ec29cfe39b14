import type { CollectionSettings } from '../engine/settings.ts';
import { CollectionError } from '../errors/collection-error.ts';
import type { EventMap, EventName, Listener } from './events.ts';
import { ask } from './exchange.ts';
import type { Port } from './port.ts';

/** What a collection needs of its door. */
export interface CollectionDoor {
  /** Listens to an event of the door. */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void;
}

/** What both types of collection have. */
export abstract class CollectionHandle<Sync> {
  /** The collection's name. */
  readonly name: string;
  /** The collection's type, fixed when it was made. */
  readonly type: CollectionSettings['type'];
  protected readonly settings: CollectionSettings;
  protected readonly port: Port;
  readonly #door: CollectionDoor;
  #sync: Sync | undefined;

  constructor(settings: CollectionSettings, port: Port, door: CollectionDoor) {
    this.name = settings.name;
    this.type = settings.type;
    this.settings = settings;
    this.port = port;
    this.#door = door;
  }

  /**
   * Resolves once the collection is open and, with `caching: true`, in memory. Waiting for it is optional:
   * calls made earlier wait by themselves.
   *
   * @throws {StorageError} when it cannot be opened; {CollectionError} `type_mismatch`.
   */
  get ready(): Promise<void> {
    return this.#makeReady();
  }

  /**
   * The same methods without promises. Only with {@link Database} and `caching: true`, after
   * `await collection.ready`.
   *
   * @throws {CollectionError} `sync_unavailable` anywhere else, saying why.
   */
  get sync(): Sync {
    if (this.#sync) return this.#sync;
    const { started } = this.port;
    const why = !this.settings.caching
      ? 'the collection has caching: false'
      : started && started !== 'thread'
        ? 'the engine runs in a worker'
        : 'await collection.ready first';
    throw new CollectionError('sync_unavailable', `collection.sync cannot be used: ${why}.`);
  }

  /** Loads the methods without promises: most pages never need them. */
  protected abstract loadSync(): Promise<Sync>;

  async #makeReady(): Promise<void> {
    await this.port.run(ask({ op: 'ready' }));
    if (this.settings.caching && this.port.started === 'thread')
      this.#sync ??= await this.loadSync();
  }

  /** Resolves when everything so far is in storage. Rejects when saving fails; it is then tried again later. */
  save(): Promise<void> {
    return this.port.run(ask({ op: 'save' }));
  }

  /**
   * Removes the collection with everything that is stored of it. This handle is of no use afterwards;
   * constructing the name again starts empty.
   *
   * @throws {CollectionError} `drop_disabled` without `activate_drop_method: true`; nothing is touched.
   */
  Drop(): Promise<true> {
    return this.port.run(ask({ op: 'drop', enabled: this.settings.activate_drop_method }));
  }

  /**
   * Listens to what happens to this collection.
   *
   * @returns a function that stops it.
   */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void {
    // The door refuses what is no function, which the wrapper would hide.
    if (typeof listener !== 'function') return this.#door.on(name, listener);
    return this.#door.on(name, (event: EventMap[Name]) => {
      if (!('collection' in event) || event.collection === this.name) listener(event);
    });
  }
}
