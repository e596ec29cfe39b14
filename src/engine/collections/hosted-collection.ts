import type { FileHeader } from '../../backup/file/file-contents.ts';
import { asCairnError } from '../../errors/as-cairn-error.ts';
import type { CairnError } from '../../errors/cairn-error.ts';
import { SegmentLog } from '../../storage/log/segment-log.ts';
import { BackupRequests, type PinnedCollection } from '../backups/backup-requests.ts';
import type { SectionImport } from '../backups/section-import.ts';
import { notInMemory } from '../collection-errors.ts';
import { CollectionVersions } from '../documents/collection-versions.ts';
import { DocumentIndexes } from '../documents/document-indexes.ts';
import { DocumentStore } from '../documents/document-store.ts';
import { type IndexDeclaration, IndexDeclarations } from '../documents/index-declarations.ts';
import { IndexKeeper } from '../documents/index-keeper.ts';
import { CollectionEvents } from '../events/collection-events.ts';
import type { Executor, GiveUp } from '../executor.ts';
import { KeyValueStore } from '../key-values/key-value-store.ts';
import { LiveQueries } from '../live/live-queries.ts';
import type { LiveReader } from '../live/live-reader.ts';
import type { IdempotencyKey } from '../protocol/idempotency-key.ts';
import { isChanging, isOfReplica, isOnBackups, isPartOfFile } from '../protocol/request-kinds.ts';
import type { Request } from '../protocol/requests.ts';
import type { CollectionSettings } from '../protocol/settings.ts';
import { RecordStore } from '../records/record-store.ts';
import { ReplicaRequests } from '../replication/replica-requests.ts';
import { SaveSchedule } from '../saving/save-schedule.ts';
import { isCoroutine, type Result, runSync, wait } from '../scheduling/coroutine.ts';
import { Aborts } from '../scheduling/pace.ts';
import { Postponed, SerialQueue } from '../scheduling/serial-queue.ts';
import type { Transaction } from '../transactions/transaction.ts';
import { Availability } from './availability.ts';
import type { CollectionContext } from './collection-context.ts';
import type { EngineEnvironment } from './environment.ts';
import { abandonParts, executeOnce } from './execute-once.ts';
import { CollectionLifecycle } from './lifecycle.ts';
import { StampOptions } from './stamp-options.ts';
import { atRest } from './storage-at-rest.ts';

/** An open collection of the engine, shared by all handles to it. */
export class HostedCollection implements Executor {
  readonly settings: CollectionSettings;
  readonly records: RecordStore;
  readonly saves: SaveSchedule;
  readonly lives: LiveQueries;
  readonly availability = new Availability();
  readonly context: CollectionContext;
  readonly queue = new SerialQueue();
  readonly #aborts = new Aborts();
  readonly #store: DocumentStore | KeyValueStore;
  readonly #backups: BackupRequests;
  readonly #indexes: IndexKeeper;
  readonly #lifecycle: CollectionLifecycle;
  readonly #replication: ReplicaRequests;
  readonly #dropping: (collection: HostedCollection, drop: Promise<unknown>) => void;
  readonly #stamps: StampOptions;

  /**
   * @param dropping Called when a drop begins: the name is free, and can be opened again once the drop has ended.
   * @param after What must end before the collection is opened.
   */
  constructor(
    settings: CollectionSettings,
    environment: EngineEnvironment,
    dropping: (collection: HostedCollection, drop: Promise<unknown>) => void,
    after?: Promise<unknown>,
  ) {
    const { name, type, caching } = settings;
    const { storage, pool, durability, clock, snapshots, links } = environment;
    this.settings = settings;
    this.#stamps = new StampOptions(settings);
    this.#dropping = dropping;
    const log = new SegmentLog({
      ...{ name, type, storage, pool, durability, caching },
      columns: () => this.context.indexes.columns,
      epoch: () => storage.epoch(),
      referenced: () => this.#backups.backups.kept(),
    });
    this.records = new RecordStore(log, clock, caching, snapshots);
    const events = new CollectionEvents(environment.events, settings);
    this.saves = new SaveSchedule(this.records, settings, clock, events, links);
    this.context = {
      ...environment,
      ...{ settings, events },
      availability: this.availability,
      records: this.records,
      versions: new CollectionVersions(() => this.context),
      saves: this.saves,
      indexes: new DocumentIndexes(settings, []),
      replica: undefined,
      declared: new IndexDeclarations(),
      aborts: this.#aborts,
    };
    this.lives = new LiveQueries(this.context);
    events.watchWith(this.lives);
    this.#store =
      type === 'DOCUMENT_BASED' ? new DocumentStore(this.context) : new KeyValueStore(this.context);
    this.#backups = new BackupRequests(this.context, (backup) => this.#lifecycle.restored(backup));
    this.#indexes = new IndexKeeper(this.context, this.#backups.backups);
    this.#replication = new ReplicaRequests(this.context);
    this.#lifecycle = new CollectionLifecycle(this.context, {
      queue: this.queue,
      lives: this.lives,
      backups: this.#backups,
      indexes: this.#indexes,
      replication: this.#replication,
    });
    const opened = this.queue.enter(true, () => this.#lifecycle.open(after, environment.stolen));
    // A failure rejects the requests that come.
    Promise.resolve(opened).catch(() => undefined);
  }

  /** Executes a request in its turn, on the collection or on a transaction's view of it. */
  execute(
    request: Request,
    reader?: LiveReader,
    key?: IdempotencyKey,
    declaration?: IndexDeclaration,
    transaction?: Transaction,
  ): unknown {
    this.#lifecycle.retention?.touch();
    // At once: the import or export that they belong to holds the queue.
    if (isPartOfFile(request)) return this.#backups.execute(request);
    if (request.op === 'abort') {
      this.#backups.abort(request.call);
      return this.#aborts.abort(request.call);
    }
    const { storage, terminable } = this.context;
    const mustRest = terminable && request.mayHang === true;
    // What follows a request that waits for storage must not overtake it. Storage may be busy by its turn.
    const mayWait = (): boolean => mustRest && (storage.isBusy || this.queue.busy);
    const enter = (): unknown =>
      this.queue.enter((!transaction && isChanging(request)) || mayWait(), () => {
        if (declaration && request.op !== 'drop') {
          const { pending, error } = declaration;
          if (pending) return new Postponed(pending.then(enter));
          if (error) throw error;
        }
        const perform = () => this.#perform(request, reader, key, transaction);
        return mustRest ? atRest(storage, perform) : perform();
      });
    const result = request.op === 'importBackup' ? this.#backups.expect(request, enter) : enter();
    if (result instanceof Promise && 'call' in request) this.#aborts.note(request.call, result);
    if (request.op === 'drop' && request.enabled && !this.availability.failed)
      this.#dropping(this, Promise.resolve(result));
    return result;
  }

  /** Executes a request now, or throws if something would have to be waited for. */
  executeSync(
    request: Request,
    key?: IdempotencyKey,
    declaration?: IndexDeclaration,
    transaction?: Transaction,
  ): unknown {
    this.#lifecycle.retention?.touch();
    const { name, caching } = this.settings;
    if (!caching) throw notInMemory(name, 'it was opened with caching: false');
    if (declaration?.error) throw declaration.error;
    if (this.queue.busy || declaration?.pending)
      throw notInMemory(name, 'earlier calls wait; await collection.ready first');
    this.#aborts.immediate = true;
    try {
      const result = this.#perform(request, undefined, key, transaction);
      return isCoroutine(result) ? runSync(result, name) : result;
    } finally {
      this.#aborts.immediate = false;
    }
  }

  /** Pins what the collection holds, for a file. Saves first. */
  async freeze(): Promise<PinnedCollection> {
    return this.queue.enter(false, () => {
      this.availability.check();
      return wait(this.#backups.freeze());
    });
  }

  /** Reads a collection of a file into its place, or on top of it. Executes nothing else until `read` ends. */
  async importSection<T>(
    header: FileHeader,
    merge: boolean,
    read: (importing: SectionImport) => Promise<T>,
  ): Promise<T> {
    return this.queue.enter(true, () => {
      if (this.availability.failed) this.availability.check();
      return wait(this.#backups.importSection(header, merge, read));
    });
  }

  /** Gives it another name, in its turn; handles and live queries of this one then fail. */
  async rename(to: string): Promise<void> {
    await this.queue.enter(true, () => this.#lifecycle.rename(to));
  }

  /** The number of its documents or values once it is open; `undefined` where its data is damaged. */
  async count(): Promise<number | undefined> {
    return this.queue.enter(false, () => (this.availability.error ? undefined : this.records.size));
  }

  giveUp(request: GiveUp): void {
    if (request.op === 'scanEnd') this.#store.execute(request);
    // Earlier parts may wait in the queue.
    else if (request.op === 'insertAbandon')
      void this.queue.enter(false, () => this.#store.execute(request));
    else if (request.op === 'abort') this.#backups.abort(request.call);
    else {
      this.#backups.endExport(request.cursor).catch((error: unknown) => {
        this.context.events.failed(asCairnError(error));
      });
    }
  }

  /** Must be called after a batch: sends its changes to live queries, and saves when that is due. */
  settle(): void {
    if (this.availability.error) return;
    this.lives.settle();
    this.context.events.released(this.records.takeReleased());
    this.context.replica?.settle();
    this.saves.check();
  }

  /** Takes in a new handle: its indexes count; its other options do not while the collection is open. */
  declare(settings: CollectionSettings): IndexDeclaration {
    this.#stamps.compare(settings);
    return this.#indexes.declare(settings.indexes);
  }

  /** A handle has closed. */
  retract(declaration: IndexDeclaration, drops: boolean): void {
    this.#indexes.retract(declaration, drops);
  }

  /** Applies a replayed change, at the cost of a unique index that the handle of the change does not declare. */
  async reapply(
    request: Request,
    key: IdempotencyKey,
    declared: CollectionSettings['indexes'],
  ): Promise<void> {
    for (;;) {
      try {
        await this.execute(request, undefined, key);
        return;
      } catch (cause) {
        const error = asCairnError(cause);
        if (this.giveUpIndex(error, declared)) continue;
        abandonParts(this.#store, request);
        throw error;
      }
    }
  }

  /** Gives up the unique index that refuses a replayed change, unless the handle of the change declares it. */
  giveUpIndex(error: CairnError, declared: CollectionSettings['indexes']): boolean {
    return this.#indexes.giveUp(error, declared);
  }

  /** Saves everything so far. */
  async flush(): Promise<void> {
    const save = () => (this.availability.error ? undefined : wait(this.#save()));
    await this.queue.enter(false, save);
  }

  async #save(): Promise<undefined> {
    await this.saves.flush();
    await this.context.replica?.save();
  }

  /** When its cache is cleared unless a request comes before; `undefined` where there is none. */
  get cachedUntil(): Date | 'never' | undefined {
    return this.#lifecycle.cachedUntil;
  }

  /** Ends timers and writes. Unsaved changes are lost: save first. */
  stop(): Promise<void> {
    return this.#lifecycle.stop();
  }

  #perform(
    request: Request,
    reader?: LiveReader,
    key?: IdempotencyKey,
    transaction?: Transaction,
  ): Result<unknown> {
    if (transaction) return transaction.execute(this.context, request);
    if (request.op === 'drop') return this.#lifecycle.drop(request);
    if (isOnBackups(request) && !this.availability.failed)
      return wait(this.#backups.execute(request));
    this.availability.check();
    if ('live' in request) return this.lives.perform(request, reader);
    if (request.op === 'open') return undefined;
    if (request.op === 'save') return wait(this.#save());
    if (request.op === 'ready') return this.#lifecycle.ready();
    if (isOfReplica(request)) return this.#replication.execute(request);
    return executeOnce(this.#store, this.context, request, key);
  }
}
