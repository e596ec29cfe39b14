import type { CollectionSettings } from '../engine/settings.ts';
import { CollectionError } from '../errors/collection-error.ts';
import type { CallName, Calls, CallsClass } from './calls.ts';
import type { EventMap, EventName, Listener } from './events.ts';
import { kept, keptOptions, loadCalls, loadedCalls, orAborted } from './load-calls.ts';
import { signalIn } from './option-checks.ts';
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
  #calls: Calls | undefined;
  #sync: Sync | undefined;

  constructor(settings: CollectionSettings, port: Port, door: CollectionDoor) {
    this.name = settings.name;
    this.type = settings.type;
    this.settings = settings;
    this.port = port;
    this.#door = door;
    // Now, while the engine starts. The first call tells when it fails.
    loadCalls().catch(() => undefined);
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

  async #makeReady(): Promise<void> {
    await this.call('ready', []);
    if (this.settings.caching && this.port.started === 'thread')
      this.#sync ??= (await this.callsWith(await loadCalls()).loadSync()) as Sync;
  }

  /** Resolves when everything so far is in storage. Rejects when saving fails; it is then tried again later. */
  save(): Promise<void> {
    return this.call('save', []);
  }

  /**
   * Removes the collection with everything that is stored of it. This handle is of no use afterwards;
   * constructing the name again starts empty.
   *
   * @throws {CollectionError} `drop_disabled` without `activate_drop_method: true`; nothing is touched.
   */
  Drop(): Promise<true> {
    const { activate_drop_method: enabled } = this.settings;
    const { refusal, dropped } = this.port.events;
    // Known from the call on, even if it has to wait for its turn.
    if (enabled && !refusal()) dropped();
    return this.call('drop', [enabled]);
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

  /**
   * Runs a call. What it needs is loaded with the first ones; those wait, with copies of what they were given.
   *
   * @param alone Whether no other call of the collection may come between its requests.
   * @param keep Copies an argument.
   */
  protected call<T>(
    name: CallName,
    args: readonly unknown[],
    options?: unknown,
    alone = false,
    keep = kept,
  ): Promise<T> {
    const refusal = this.port.events.refusal();
    if (refusal) return Promise.reject(refusal);
    const Calls = loadedCalls();
    if (Calls) return this.callsWith(Calls).run(name, args, options, alone);
    // Also while it waits to be run, which hears of the signal itself.
    return orAborted(this.#callLater(name, args, options, alone, keep), signalIn(options));
  }

  async #callLater<T>(
    name: CallName,
    args: readonly unknown[],
    options: unknown,
    alone: boolean,
    keep: typeof kept,
  ): Promise<T> {
    const copies = args.map((arg) => keep(arg));
    const copied = keptOptions(options);
    // No call made later may come before this one, so nothing else is waited for.
    return this.callsWith(await loadCalls()).run(name, copies, copied, alone);
  }

  /** The calls of this collection, once what runs them is there. */
  protected callsWith(Calls: CallsClass): Calls {
    this.#calls ??= new Calls(this.settings, this.port);
    return this.#calls;
  }
}
