import type { BackupInfo, Verification } from '../engine/protocol/backup-protocol.ts';
import type { CollectionSettings } from '../engine/protocol/settings.ts';
import type { Result } from '../engine/scheduling/coroutine.ts';
import { CollectionError } from '../errors/collection-error.ts';
import type { CallOrder } from './calls/call-order.ts';
import type { CommonCalls } from './calls/common-calls.ts';
import type { FileSource, ImportOptions } from './calls/file-bytes.ts';
import { copyArgument, orAborted } from './calls/first-call.ts';
import type { HandleChannel } from './calls/handle-channel.ts';
import type { HandleCalls, Runtime } from './calls/runtime.ts';
import type { Sender } from './calls/sender.ts';
import type { ClientStatus, EventMap, EventName, Listener } from './events.ts';
import { signalIn } from './options/option-checks.ts';

/** Options of {@link CollectionHandle.createBackup}. */
export interface BackupOptions {
  /** Shown by `listBackups()`. */
  label?: string | undefined;
}

/** Options of {@link CollectionHandle.Drop}. */
export interface DropOptions {
  /**
   * Makes a backup that stays: constructing the name again starts empty, and `loadBackup()` brings it back.
   * @default false
   */
  backup?: boolean | undefined;
}

/** The client that a collection belongs to. */
export interface CollectionOwner {
  readonly status: ClientStatus;
  /** Why no call may begin; `undefined` while calls may. */
  readonly refusal: Error | undefined;
  /** `undefined` until it is loaded. */
  readonly runtime: Runtime | undefined;
  /** Whether constructing a collection loads the runtime; else the first call of the client does. */
  readonly opensEarly: boolean;
  /** Opens a handle once the runtime is loaded, in the order of construction. */
  whenLoaded(open: (runtime: Runtime) => void): void;
  /** Loads the runtime. @throws {CairnError} `load_failed`; the next call tries again. */
  loadRuntime(): Promise<Runtime>;
  /** The order of the calls to a collection. */
  orderOf(name: string): CallOrder;
  /** Listens to an event of the client. */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void;
  /** A collection is open: its type is known. */
  noteOpened(settings: CollectionSettings): void;
  /** A collection is being dropped: its name is free. */
  noteDropped(name: string): void;
}

/** How a method makes its call. */
interface MethodMode {
  /** The caller's options, which may hold an AbortSignal. */
  readonly options?: unknown;
  /** Whether no other call of the collection may come between the requests of this one. */
  readonly exclusive?: boolean;
  /** Copies an argument where the call waits for the runtime to load. */
  readonly copy?: (value: unknown) => unknown;
}

/** What both types of collection have. */
export abstract class CollectionHandle<Calls extends CommonCalls, Sync> {
  /** The collection's name. */
  readonly name: string;
  /** The collection's type, fixed when it was made. */
  readonly type: CollectionSettings['type'];
  protected readonly settings: CollectionSettings;
  protected readonly owner: CollectionOwner;
  readonly #order: CallOrder;
  #calls: HandleCalls<Calls> | undefined;
  #sync: Sync | undefined;

  constructor(settings: CollectionSettings, owner: CollectionOwner) {
    this.name = settings.name;
    this.type = settings.type;
    this.settings = settings;
    this.owner = owner;
    this.#order = owner.orderOf(settings.name);
    // The first call rejects where this fails.
    if (owner.opensEarly) this.#open().catch(() => undefined);
    else owner.whenLoaded((runtime) => this.#opened(runtime));
  }

  /** Opens the collection in the engine. */
  protected abstract open(runtime: Runtime, order: CallOrder): HandleCalls<Calls>;

  /** Loads the methods without promises: most pages never need them. */
  protected abstract loadSync(calls: HandleCalls<Calls>): Promise<Sync>;

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
    const { engine } = this.owner.status;
    const why = !this.settings.caching
      ? 'construct it with caching: true'
      : engine && engine !== 'thread'
        ? 'the engine is not in this thread'
        : 'await collection.ready first';
    throw new CollectionError('sync_unavailable', `collection.sync cannot be used: ${why}.`, {
      place: this.name,
    });
  }

  async #makeReady(): Promise<void> {
    await this.call([], (calls, sender) => calls.ready(sender));
    if (this.settings.caching && this.owner.status.engine === 'thread')
      this.#sync ??= await this.loadSync(await this.#open());
  }

  /** Resolves when everything so far is in storage. Rejects when saving fails; it is then tried again later. */
  save(): Promise<void> {
    return this.call([], (calls, sender) => calls.save(sender));
  }

  /**
   * Makes a backup: the collection as of now, everything changed before in it. It takes one small write whatever
   * the size, since what is stored is shared; `backup_retention_time` says when it expires.
   *
   * @returns its name.
   * @throws {StorageError} when it cannot be stored.
   */
  createBackup(options?: BackupOptions): Promise<string> {
    return this.call([options], (calls, sender, given) => calls.createBackup(sender, given));
  }

  /** The backups there are, newest first. */
  listBackups(): Promise<BackupInfo[]> {
    return this.call([], (calls, sender) => calls.listBackups(sender));
  }

  /**
   * Puts a backup in the place of what the collection holds, all or nothing. What it held before becomes a
   * backup too, so this can be undone. Live queries show the new state, and the event `restore` tells of it.
   *
   * Also for a collection that cannot be opened because its data is damaged.
   *
   * @throws {BackupError} `backup_unknown`, `backup_damaged`; the collection is as it was.
   */
  loadBackup(name: string): Promise<true> {
    return this.call([name], (calls, sender, given) => calls.loadBackup(sender, given));
  }

  /** Removes a backup, and what only it holds. @throws {BackupError} `backup_unknown` */
  deleteBackup(name: string): Promise<true> {
    return this.call([name], (calls, sender, given) => calls.deleteBackup(sender, given));
  }

  /**
   * Writes a backup as a file: gzip, one line of JSON for each document, a checksum at the end. The stream
   * makes its bytes as they are read, whatever the size; until it is read or cancelled the backup stays.
   *
   * @throws {BackupError} `backup_unknown`
   *
   * @example
   * ```ts
   * const file = await users.exportBackup(await users.createBackup());
   * const blob = await new Response(file).blob();
   * ```
   */
  async exportBackup(name: string): Promise<ReadableStream<Uint8Array>> {
    const { cursor } = await this.call([name], (calls, sender, given) =>
      calls.exportBackup(sender, given),
    );
    return (await this.#open()).exported(cursor);
  }

  /**
   * Reads a file that {@link exportBackup} wrote, all or nothing. Ids and managed fields are kept. What the
   * collection held before becomes a backup, so this can be undone.
   *
   * @returns how many documents came.
   * @throws {BackupError} for what is no such file, is cut off, damaged or of a newer version; nothing is changed.
   */
  importBackup(file: FileSource, options?: ImportOptions): Promise<number> {
    return this.call(
      [file, options],
      (calls, sender, source, given) => calls.importBackup(sender, source, given),
      { options, exclusive: true },
    );
  }

  /**
   * Reads everything that is stored of the collection and its backups, and says what is wrong with it. Works
   * for one that cannot be opened because its data is damaged, too.
   */
  verify(): Promise<Verification> {
    return this.call([], (calls, sender) => calls.verify(sender));
  }

  /**
   * Removes the collection with everything that is stored of it, backups included. This handle is of no use
   * afterwards; constructing the name again starts empty.
   *
   * @throws {CollectionError} `drop_disabled` without `activate_drop_method: true`; nothing is touched.
   */
  Drop(options?: DropOptions): Promise<true> {
    const { activate_drop_method: enabled } = this.settings;
    // From the call on, even if it waits in line.
    if (enabled && !this.owner.refusal) this.owner.noteDropped(this.name);
    return this.call([options], (calls, sender, given) => calls.drop(sender, enabled, given));
  }

  /**
   * Listens to what happens to this collection.
   *
   * @returns a function that stops it.
   */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void {
    // The client refuses what is no function, which the wrapper would hide.
    if (typeof listener !== 'function') return this.owner.on(name, listener);
    return this.owner.on(name, (event: EventMap[Name]) => {
      if (!('collection' in event) || event.collection === this.name) listener(event);
    });
  }

  /**
   * Makes a call. Before the runtime is loaded it waits in line, with copies of its arguments.
   *
   * @param start Begins the call with the arguments.
   */
  protected async call<Args extends readonly unknown[], T>(
    args: Args,
    start: (calls: Calls, sender: Sender, ...args: Args) => Result<T>,
    { options, exclusive, copy = copyArgument }: MethodMode = {},
  ): Promise<T> {
    const { refusal } = this.owner;
    if (refusal) throw refusal;
    const mode = { signal: signalIn(options), exclusive };
    try {
      const handle = this.#calls;
      if (handle) return await handle.run((calls, sender) => start(calls, sender, ...args), mode);
      const copies = args.map((arg) => copy(arg)) as unknown as Args;
      const later = this.#first((opened) =>
        opened.run((calls, sender) => start(calls, sender, ...copies), mode),
      );
      return await orAborted(later, mode.signal);
    } catch (error) {
      throw this.owner.runtime?.withCallerFrames(error) ?? error;
    }
  }

  /** What a live query of this collection starts from. */
  protected get liveBase(): {
    settings: CollectionSettings;
    channel: () => Promise<HandleChannel>;
  } {
    const { settings } = this;
    return { settings, channel: async () => (await this.#open()).channel };
  }

  /** The open handle, after the calls made before. */
  #open(): Promise<HandleCalls<Calls>> {
    return this.#first(async (handle) => handle);
  }

  /** Starts something with the open handle in line with the calls, loading the runtime first where it is missing. */
  #first<T>(start: (handle: HandleCalls<Calls>) => Promise<T>): Promise<T> {
    const { owner } = this;
    // Loading counts as an exclusive call: those made meanwhile keep their order behind it.
    if (!owner.runtime && !this.#order.busy)
      this.#order.enterExclusively(() => owner.loadRuntime()).catch(() => undefined);
    return this.#order.enter(() => {
      const { runtime } = owner;
      if (runtime) return start(this.#opened(runtime));
      return owner.loadRuntime().then((loaded) => start(this.#opened(loaded)));
    });
  }

  #opened(runtime: Runtime): HandleCalls<Calls> {
    if (!this.#calls) {
      this.#calls = this.open(runtime, this.#order);
      this.#calls.opened.then(
        () => this.owner.noteOpened(this.settings),
        // Every call rejects with the same error.
        () => undefined,
      );
    }
    return this.#calls;
  }
}
