import type { EventMap, EventName, Listener } from '../../api/events.ts';
import type { HandleSettings } from '../../api/options/collection-options.ts';
import { signalIn } from '../../api/options/option-checks.ts';
import { CollectionError } from '../../errors/errors.ts';
import type { BackupInfo, Verification } from '../../protocol/backup-protocol.ts';
import type { CollectionSettings } from '../../protocol/settings.ts';
import type { CommonCalls } from '../calls/common-calls.ts';
import type { FileSource, ImportOptions } from '../calls/file-bytes.ts';
import { cancelUnread } from '../calls/load-file-calls.ts';
import { begin, type CallRules, type Start } from '../calls/methods.ts';
import type { HandleCalls, Runtime } from '../calls/runtime.ts';
import type { CallOrder } from '../connection/call-order.ts';
import { copyArgument, orAborted } from '../sending/call-arguments.ts';
import type { HandleChannel } from '../sending/handle-channel.ts';
import type { CollectionOwner } from './collection-owner.ts';
import { REPLICATION, type ReplicationAccess } from './replication-access.ts';

/** Options of {@link CollectionHandle.createBackup}. */
export interface BackupOptions {
  /** Shown by `listBackups()`. */
  label?: string | undefined;
}

/** Options of {@link CollectionHandle.Drop}. */
export interface DropOptions {
  /**
   * Makes a backup that outlives the collection: construct the name again and load it with
   * `loadBackup()`.
   * @default false
   */
  backup?: boolean | undefined;
}

/** The methods of both types of collection. */
export abstract class CollectionHandle<Calls extends CommonCalls, Sync> {
  readonly name: string;
  /** The collection's type, fixed at its creation. */
  readonly type: CollectionSettings['type'];
  protected readonly settings: HandleSettings;
  protected readonly owner: CollectionOwner;
  readonly #order: CallOrder;
  #calls: HandleCalls<Calls> | undefined;
  #sync: Sync | undefined;

  constructor(settings: HandleSettings, owner: CollectionOwner) {
    this.name = settings.name;
    this.type = settings.type;
    this.settings = settings;
    this.owner = owner;
    this.#order = owner.orderOf(settings.name);
    // If this fails, the first call rejects.
    if (owner.opensEarly) this.#open().catch(() => undefined);
    else owner.whenLoaded(this);
  }

  /**
   * Resolves when the collection is open and, with `caching: true`, in memory. Awaiting it is
   * optional: calls wait by themselves.
   *
   * @throws {StorageError} if it cannot be opened; {CollectionError} `type_mismatch`.
   */
  get ready(): Promise<void> {
    return this.#makeReady();
  }

  /**
   * The same methods without promises, for {@link Database} with `caching: true`, after
   * `await collection.ready`.
   *
   * @throws {CollectionError} `sync_unavailable` in all other cases, with the reason.
   */
  get sync(): Sync {
    if (this.#sync) return this.#sync;
    const { engine } = this.owner.status;
    const why = !this.settings.caching
      ? 'construct it with caching: true'
      : engine && engine !== 'thread'
        ? 'the engine is not in this thread'
        : 'await collection.ready first';
    throw new CollectionError('sync_unavailable', `collection.sync: ${why}.`, {
      place: this.name,
    });
  }

  async #makeReady(): Promise<void> {
    await this.call((calls) => calls.ready, []);
    if (this.#sync || !this.settings.caching || this.owner.status.engine !== 'thread') return;
    const handle = await this.#open();
    const { openSync } = await import('./sync-methods.ts');
    this.#sync ??= openSync(this.settings, handle) as Sync;
  }

  /**
   * Resolves when all changes so far are in storage. Rejects if the save fails, which is retried
   * later.
   */
  save(): Promise<void> {
    return this.call((calls) => calls.save, []);
  }

  /**
   * Makes a backup of the collection, with all earlier changes. One small write at any size, as a
   * backup shares the stored segments. It expires after `backup_retention_time`.
   *
   * @returns the name of the backup.
   * @throws {StorageError} if it cannot be stored.
   */
  createBackup(options?: BackupOptions): Promise<string> {
    return this.call((calls) => calls.createBackup, [options]);
  }

  /** Lists the backups, newest first. */
  listBackups(): Promise<BackupInfo[]> {
    return this.call((calls) => calls.listBackups, []);
  }

  /**
   * Replaces the content of the collection by a backup, all or nothing. The old content becomes a
   * backup too, so this can be undone. Live queries show the new content; the event `restore`
   * reports it.
   *
   * Works for a collection that cannot be opened because its data is damaged, too.
   *
   * @throws {BackupError} `backup_unknown`, `backup_damaged`; the collection stays unchanged.
   */
  loadBackup(name: string): Promise<true> {
    const { version } = this.settings;
    // Its documents may have to be migrated first.
    return this.call((calls) => calls.loadBackup, [name, version], { exclusive: version > 1 });
  }

  /**
   * Deletes a backup, and the data that only it references. @throws {BackupError} `backup_unknown`
   */
  deleteBackup(name: string): Promise<true> {
    return this.call((calls) => calls.deleteBackup, [name]);
  }

  /**
   * Exports a backup as a file: gzip, one line of JSON per document, a checksum at the end. The
   * stream is lazy, at any size; until it is read or cancelled the backup is not deleted.
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
    const { cursor } = await this.call((calls) => calls.exportBackup, [name]);
    return (await this.#open()).exported(cursor);
  }

  /**
   * Imports a file of {@link exportBackup}, all or nothing, with ids and managed fields. The old
   * content becomes a backup, so this can be undone. A stream is cancelled when the call rejects.
   *
   * @returns the number of imported documents.
   * @throws {BackupError} for another, truncated, damaged or newer file; nothing is changed.
   */
  importBackup(file: FileSource, options?: ImportOptions): Promise<number> {
    const rules = { options: 1, exclusive: true };
    const importing = this.call((calls) => calls.importBackup, [file, options], rules);
    return cancelUnread(file, importing);
  }

  /**
   * Reads all stored data of the collection and its backups, and reports defects. Works for a
   * collection that cannot be opened because its data is damaged, too.
   */
  verify(): Promise<Verification> {
    return this.call((calls) => calls.verify, []);
  }

  /**
   * Removes the collection and all its stored data, backups included. Later calls of this handle
   * reject; constructing the name again starts empty.
   *
   * @throws {CollectionError} `drop_disabled` without `activate_drop_method: true`; nothing is
   *   touched.
   */
  Drop(options?: DropOptions): Promise<true> {
    const { activate_drop_method: enabled } = this.settings;
    // At once, even if the call queues.
    if (enabled && !this.owner.refusal) this.owner.noteDropped(this.name);
    return this.call((calls) => calls.drop, [this.settings, options]);
  }

  /**
   * Listens to an event of this collection.
   *
   * @returns a function that removes the listener.
   */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void {
    // The client refuses a listener that is no function; the wrapper would hide it.
    if (typeof listener !== 'function') return this.owner.on(name, listener);
    // Not `this`, which would never be collected.
    const { name: own } = this;
    return this.owner.on(name, (event: EventMap[Name]) => {
      if (!('collection' in event) || event.collection === own) listener(event);
    });
  }

  /**
   * Runs a call. Until the runtime is loaded the call queues, with copies of its arguments.
   *
   * @param start Finds its coroutine.
   */
  protected async call<Args extends readonly unknown[], T>(
    start: Start<Calls, Args, T>,
    args: Args,
    rules: CallRules<Args> = {},
  ): Promise<T> {
    const { owner } = this;
    if (owner.refusal) throw owner.refusal;
    const signal = rules.options === undefined ? undefined : signalIn(args[rules.options]);
    try {
      const handle = this.#loaded;
      if (handle) return await runCall(handle, start, args, rules, signal);
      return await this.#callLater(start, args, rules, signal);
    } catch (error) {
      throw owner.runtime?.rejection(error, this.name) ?? error;
    }
  }

  #callLater<Args extends readonly unknown[], T>(
    start: Start<Calls, Args, T>,
    args: Args,
    rules: CallRules<Args>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    // Arguments behind the options are not read: `map` passes its list with each item.
    const { options: last = 1, copy = copyArgument } = rules;
    const copies = args.map((one, at) => (at > last ? one : copy(one))) as unknown as Args;
    const later = this.#first(async (handle) => runCall(handle, start, copies, rules, signal));
    return orAborted(later, signal);
  }

  /** For `replicate()` of `cairndb/replication`. */
  get [REPLICATION](): object {
    return { ...this.liveBase, owner: this.owner } satisfies ReplicationAccess;
  }

  /** The part of a live query's source that all queries of this collection share. */
  protected get liveBase(): {
    settings: HandleSettings;
    channel: () => Promise<HandleChannel>;
  } {
    const { settings } = this;
    return { settings, channel: async () => (await this.#open()).channel };
  }

  #open(): Promise<HandleCalls<Calls>> {
    return this.#first(async (handle) => handle);
  }

  /** The open handle; `undefined` while code loads. */
  get #loaded(): HandleCalls<Calls> | undefined {
    const { runtime } = this.owner;
    return runtime && this.#opened(runtime).loaded;
  }

  /** Starts an action with the open handle, in the order of the calls; loads the code first. */
  #first<T>(start: (handle: HandleCalls<Calls>) => Promise<T>): Promise<T> {
    const load = () => this.owner.loadRuntime().then((runtime) => this.#opened(runtime).load());
    // Loading counts as an exclusive call: later calls keep their order behind it.
    if (!this.#loaded && !this.#order.busy)
      this.#order.enterExclusively(load).catch(() => undefined);
    return this.#order.enter(() => {
      const handle = this.#loaded;
      return handle ? start(handle) : load().then(start);
    });
  }

  /**
   * @internal For transactions: the calls of a collection of this owner, `false` for one of
   *   another; the runtime must be loaded.
   */
  static openedBy<Calls extends CommonCalls>(
    owner: CollectionOwner,
    runtime: Runtime,
    collection: CollectionHandle<Calls, unknown>,
  ): HandleCalls<Calls> | false {
    return collection.owner === owner && collection.#opened(runtime);
  }

  #opened(runtime: Runtime): HandleCalls<Calls> {
    if (!this.#calls) {
      // Not `this`, which would never be collected.
      const { owner, settings } = this;
      const partnerOf = (partner: object) =>
        CollectionHandle.openedBy(owner, runtime, partner as CollectionHandle<Calls, unknown>);
      this.#calls = runtime.open<Calls>(settings, this.#order, this, partnerOf);
      this.#calls.opened.then(
        () => owner.noteOpened(settings),
        // Every call rejects with the same error.
        () => undefined,
      );
    }
    return this.#calls;
  }
}

/** Hot path: a function of its own, as each call of one with closures pays for all of them. */
function runCall<Calls extends CommonCalls, Args extends readonly unknown[], T>(
  { calls, channel }: HandleCalls<Calls>,
  start: Start<Calls, Args, T>,
  args: Args,
  { exclusive }: CallRules<Args>,
  signal: AbortSignal | undefined,
): Promise<T> {
  const isAlone = typeof exclusive === 'function' ? exclusive(...args) : exclusive;
  return channel.run((sender) => begin(start, calls, sender, args), isAlone, signal);
}
