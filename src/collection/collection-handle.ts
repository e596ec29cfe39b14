import type { CollectionSettings } from '../engine/settings.ts';
import { CollectionError } from '../errors/collection-error.ts';
import type { EventMap, EventName, Listener } from './events.ts';
import { drop, ready, save } from './lifecycle-exchanges.ts';
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
  #isReady = false;

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
    return this.port.run(ready()).then(() => {
      this.#isReady = true;
    });
  }

  /**
   * The same methods without promises. Only with {@link Database} and `caching: true`, after
   * `await collection.ready`.
   *
   * @throws {CollectionError} `sync_unavailable` anywhere else, saying why.
   */
  get sync(): Sync {
    if (!this.settings.caching) throw unavailable(`collection "${this.name}" has caching: false`);
    if (!this.#isReady) throw unavailable('await collection.ready first');
    this.port.checkSync();
    return this.makeSync();
  }

  protected abstract makeSync(): Sync;

  /** Resolves when everything so far is in storage. Rejects when saving fails; it is then tried again later. */
  save(): Promise<void> {
    return this.port.run(save());
  }

  /**
   * Removes the collection with everything that is stored of it. This handle is of no use afterwards;
   * constructing the name again starts empty.
   *
   * @throws {CollectionError} `drop_disabled` without `activate_drop_method: true`; nothing is touched.
   */
  Drop(): Promise<true> {
    return this.port.run(drop(this.settings));
  }

  /**
   * Listens to what happens to this collection.
   *
   * @returns a function that stops it.
   */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void {
    return this.#door.on(name, (event: EventMap[Name]) => {
      if (!('collection' in event) || event.collection === this.name) listener(event);
    });
  }
}

function unavailable(why: string): CollectionError {
  return new CollectionError('sync_unavailable', `collection.sync cannot be used here: ${why}.`);
}
