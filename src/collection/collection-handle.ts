import type { BackupInfo, Verification } from '../engine/protocol/backup-protocol.ts';
import type { CollectionSettings } from '../engine/protocol/settings.ts';
import { CollectionError } from '../errors/collection-error.ts';
import { serverRuntime } from '../transport/platform/server-runtime.ts';
import type { CallName, Calls, CallsClass } from './calls/calls.ts';
import type { FileSource, ImportOptions } from './calls/file-bytes.ts';
import { kept, keptOptions, loadCalls, loadedCalls, orAborted } from './calls/load-calls.ts';
import type { Port } from './calls/port.ts';
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

/** What a collection needs of its door. */
export interface CollectionOwner {
  readonly status: ClientStatus;
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
  protected readonly door: CollectionOwner;
  #calls: Calls | undefined;
  #sync: Sync | undefined;

  constructor(settings: CollectionSettings, port: Port, door: CollectionOwner) {
    this.name = settings.name;
    this.type = settings.type;
    this.settings = settings;
    this.port = port;
    this.door = door;
    // While the engine starts. The first call tells when it fails.
    if (!serverRuntime()) loadCalls().catch(() => undefined);
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
    const { engine } = this.door.status;
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
    await this.call('ready', []);
    if (this.settings.caching && this.door.status.engine === 'thread')
      this.#sync ??= (await this.callsWith(await loadCalls()).loadSync()) as Sync;
  }

  /** Resolves when everything so far is in storage. Rejects when saving fails; it is then tried again later. */
  save(): Promise<void> {
    return this.call('save', []);
  }

  /**
   * Makes a backup: the collection as of now, everything changed before in it. It takes one small write whatever
   * the size, since what is stored is shared; `backup_retention_time` says when it expires.
   *
   * @returns its name.
   * @throws {StorageError} when it cannot be stored.
   */
  createBackup(options?: BackupOptions): Promise<string> {
    return this.call('createBackup', [], options);
  }

  /** The backups there are, newest first. */
  listBackups(): Promise<BackupInfo[]> {
    return this.call('listBackups', []);
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
    return this.call('loadBackup', [name]);
  }

  /** Removes a backup, and what only it holds. @throws {BackupError} `backup_unknown` */
  deleteBackup(name: string): Promise<true> {
    return this.call('deleteBackup', [name]);
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
    const { cursor } = await this.call<{ cursor: number }>('exportBackup', [name]);
    return this.callsWith(await loadCalls()).exported(cursor);
  }

  /**
   * Reads a file that {@link exportBackup} wrote, all or nothing. Ids and managed fields are kept. What the
   * collection held before becomes a backup, so this can be undone.
   *
   * @returns how many documents came.
   * @throws {BackupError} for what is no such file, is cut off, damaged or of a newer version; nothing is changed.
   */
  importBackup(file: FileSource, options?: ImportOptions): Promise<number> {
    return this.call('importBackup', [file], options, true);
  }

  /**
   * Reads everything that is stored of the collection and its backups, and says what is wrong with it. Works
   * for one that cannot be opened because its data is damaged, too.
   */
  verify(): Promise<Verification> {
    return this.call('verify', []);
  }

  /**
   * Removes the collection with everything that is stored of it, backups included. This handle is of no use
   * afterwards; constructing the name again starts empty.
   *
   * @throws {CollectionError} `drop_disabled` without `activate_drop_method: true`; nothing is touched.
   */
  Drop(options?: DropOptions): Promise<true> {
    const { activate_drop_method: enabled } = this.settings;
    const { refusal, dropped } = this.port.events;
    // Known from the call on, even if it has to wait for its turn.
    if (enabled && !refusal()) dropped();
    return this.call('drop', [enabled], options);
  }

  /**
   * Listens to what happens to this collection.
   *
   * @returns a function that stops it.
   */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void {
    // The door refuses what is no function, which the wrapper would hide.
    if (typeof listener !== 'function') return this.door.on(name, listener);
    return this.door.on(name, (event: EventMap[Name]) => {
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
