import { type Coroutine, outcome, type Result, run, wait } from '../async/coroutine.ts';
import { Aborts } from '../async/pace.ts';
import { SerialQueue } from '../async/serial-queue.ts';
import { isPromise } from '../codec/kinds.ts';
import { asCairnError, type CairnError } from '../errors/errors.ts';
import { changeLost } from '../protocol/collection-errors.ts';
import { isFed, isOfReplica, isOnBackups, isPartOfFile } from '../protocol/operations.ts';
import type { IdempotencyKey, Request } from '../protocol/requests.ts';
import type { CollectionSettings, ExpirySettings } from '../protocol/settings.ts';
import { SegmentLog } from '../storage/log/segment-log.ts';
import type { BackupRequests } from './backups/backup-requests.ts';
import {
  Availability,
  type CollectionContext,
  type EngineEnvironment,
} from './collection-context.ts';
import { CollectionEvents } from './collection-events.ts';
import { CollectionVersions } from './documents/collection-versions.ts';
import { codePartOf } from './documents/document-index.ts';
import { DocumentIndexes } from './documents/document-indexes.ts';
import { type CollectionStore, storeOf } from './documents/document-store.ts';
import { type IndexDeclaration, IndexKeeper } from './documents/index-keeper.ts';
import type { Executor, GiveUp } from './executor.ts';
import type { ExpirySweep } from './expiry/expiry-sweep.ts';
import { CheckpointWriter } from './first-reads/checkpoint-writer.ts';
import { FirstReads } from './first-reads/first-reads.ts';
import { RecentReads } from './first-reads/recent-reads.ts';
import { CollectionLifecycle, type CollectionParts } from './lifecycle.ts';
import { LiveQueries } from './live/live-queries.ts';
import type { LiveReader } from './live/live-reader.ts';
import { parts } from './parts.ts';
import { RecordStore } from './records/record-store.ts';
import type { ReplayOrder } from './replay-order.ts';
import type { ReplicaRequest, ReplicaRequests } from './replication/replica-requests.ts';
import {
  type Asking,
  abandonParts,
  checkVersion,
  declareVersion,
  executeOnce,
  giveUp,
  type HandleDeclaration,
  lacksCode,
  needParts,
  RequestQueue,
} from './request-queue.ts';
import { SaveSchedule } from './save-schedule.ts';
import type { EngineTransaction } from './transactions/transaction.ts';

/** An open collection of the engine, shared by all handles to it. */
export class HostedCollection implements Executor, CollectionParts {
  readonly settings: CollectionSettings;
  readonly records: RecordStore;
  readonly saves: SaveSchedule;
  readonly lives: LiveQueries;
  readonly availability = new Availability();
  readonly context: CollectionContext;
  readonly queue = new SerialQueue();
  readonly #aborts = new Aborts();
  /** Made with the first request: the code of values comes as the collection opens. */
  #executor: CollectionStore | undefined;
  sweep: ExpirySweep | undefined;
  backups: BackupRequests | undefined;
  readonly first: FirstReads;
  readonly checkpoints: CheckpointWriter;
  readonly #requests: RequestQueue;
  readonly lifecycle: CollectionLifecycle;
  #replication: ReplicaRequests | undefined;
  readonly #dropping: (collection: HostedCollection, drop: Promise<unknown>) => void;
  /** The versions of documents that `expire_after` is for. */
  readonly #expiring = new Set<number>();
  /** Warnings of handles with other options: one of each kind. */
  readonly #warned = new Set<string>();

  /**
   * @param dropping Called when a drop begins: the name is free, and can be opened again once the
   *   drop has ended.
   * @param after What must end before the collection is opened.
   */
  constructor(
    settings: CollectionSettings,
    environment: EngineEnvironment,
    dropping: (collection: HostedCollection, drop: Promise<unknown>) => void,
    after?: Promise<unknown>,
  ) {
    const { name, type, caching } = settings;
    const { storage, pool, durability, clock, snapshots, links, tidy } = environment;
    this.settings = settings;
    this.#dropping = dropping;
    const log = new SegmentLog({
      ...{ name, type, storage, pool, durability, caching },
      columns: () => this.context.indexes.columns,
      epoch: () => storage.epoch(),
      referenced: () => this.#keptByBackups(),
    });
    this.records = new RecordStore(log, clock, caching, snapshots);
    const events = new CollectionEvents(environment.events, settings);
    this.saves = new SaveSchedule(this.records, settings, clock, events, links, tidy);
    this.context = {
      ...environment,
      ...{ settings, events, availability: this.availability },
      records: this.records,
      versions: new CollectionVersions(() => this.context),
      lives: () => this.lives,
      saves: this.saves,
      indexes: new DocumentIndexes(settings, []),
      replica: undefined,
      keeper: new IndexKeeper(
        () => this.context,
        (definitions) => this.#loadIndexCode(definitions),
        (cause) => this.withBackups(({ backups }) => backups.create(cause)),
      ),
      ...{ aborts: this.#aborts, recent: new RecentReads() },
    };
    this.lives = new LiveQueries(this.context);
    events.watchWith(this.lives);
    this.first = new FirstReads(this.context);
    this.#requests = new RequestQueue(this.context, this.queue, this.first, (request, asking) =>
      this.perform(request, asking),
    );
    this.checkpoints = new CheckpointWriter(this.context);
    this.lifecycle = new CollectionLifecycle(this.context, this);
    const opened = this.queue.enter(true, () => this.lifecycle.open(after, environment.stolen));
    // A failure rejects the requests that come.
    Promise.resolve(opened).catch(() => undefined);
  }

  /** Executes a request in its turn, on the collection or on a transaction's view of it. */
  execute(
    request: Request,
    reader?: LiveReader,
    key?: IdempotencyKey,
    declaration?: HandleDeclaration,
    transaction?: EngineTransaction,
  ): unknown {
    this.touch();
    // At once: the import or export that they belong to holds the queue.
    if (isPartOfFile(request)) return this.withBackups((backups) => backups.execute(request));
    if (request.op === 'abort') {
      this.#abortFile(request.call);
      return this.#aborts.abort(request.call);
    }
    const asking = { declaration, key, reader, transaction };
    const result = isFed(request)
      ? this.#expectParts(request, asking)
      : this.#requests.take(request, asking);
    if (isPromise(result) && 'call' in request) this.#aborts.note(request.call, result);
    if (request.op === 'drop' && !this.availability.failed)
      this.#dropping(this, Promise.resolve(result));
    return result;
  }

  get #store(): CollectionStore {
    this.#executor ??= storeOf(this.context);
    return this.#executor;
  }

  /** Keeps the cache: the collection is in use. */
  touch(): void {
    this.lifecycle.retention?.touch();
  }

  /**
   * Resolves when reads of other collections can look into this one; `undefined` if they can now.
   * Takes its place among the requests at once, so no two such reads wait for each other.
   */
  readable(declaration: HandleDeclaration | undefined): Promise<unknown> | undefined {
    this.touch();
    const entered = this.queue.enter(false, () => {
      this.availability.check();
      if (declaration) checkVersion(this.context, 'get', declaration);
    });
    return isPromise(entered) ? entered : undefined;
  }

  giveUp(request: GiveUp): void {
    if (request.op === 'scanEnd' && this.first.resume(request)) return;
    if (request.op === 'abort') this.#abortFile(request.call);
    else giveUp(request, this.#store, this.backups, this.context, this.queue);
  }

  /**
   * Must be called after a batch: sends its changes to live queries, and saves when that is due.
   */
  settle(): void {
    if (this.availability.error) return;
    this.lives.settle();
    this.context.events.hub.release(this.records.takeReleased());
    this.context.replica?.settle();
    this.saves.check();
    this.sweep?.check();
  }

  /**
   * Takes in a new handle: its indexes count; its other options do not while the collection is
   * open.
   */
  declare(settings: CollectionSettings): IndexDeclaration {
    this.#compare(settings);
    declareVersion(this.records, settings.version);
    return this.context.keeper.declare(settings);
  }

  /** Warns of options that differ from those of the handle that opened the collection. */
  #compare(given: CollectionSettings): void {
    const { settings: open } = this;
    if (expiryOf(open) === expiryOf(given)) this.#expiring.add(given.version);
    if (sharedOptions(open) === sharedOptions(given)) return;
    parts.load('upkeep').then(
      ({ warnOfOptions }) => warnOfOptions(open, given, this.#warned),
      () => undefined,
    );
  }

  /** A handle has closed. */
  retract(declaration: IndexDeclaration, drops: boolean): void {
    this.context.keeper.retract(declaration, drops);
  }

  /**
   * Applies a replayed change, at the cost of a unique index that the handle of the change does not
   * declare.
   */
  async reapply(
    request: Request,
    key: IdempotencyKey,
    declaration: CollectionSettings,
    order: ReplayOrder,
  ): Promise<void> {
    const asking = { declaration, key, order };
    this.touch();
    for (;;) {
      try {
        const reply = await this.#requests.take(request, asking);
        if (this.findsNothing(request, reply)) throw changeLost(this.settings.name, request.id);
        return;
      } catch (cause) {
        const error = asCairnError(cause);
        if (this.giveUpIndex(error, declaration.indexes)) continue;
        abandonParts(this.#store, request);
        throw error;
      }
    }
  }

  /**
   * Whether a repeated change has no document to change: others have deleted it, or it was lost
   * with the tab that made it.
   */
  findsNothing(
    change: Request,
    reply: unknown,
  ): change is Request<'update' | 'patch' | 'archive' | 'unarchive'> {
    switch (change.op) {
      case 'update':
      case 'patch':
        return reply === undefined;
      case 'archive':
      case 'unarchive':
        return reply === false && this.records.table.get(change.id) === undefined;
      default:
        return false;
    }
  }

  /**
   * Gives up the unique index that refuses a replayed change, unless the handle of the change
   * declares it.
   */
  giveUpIndex(error: CairnError, declared: CollectionSettings['indexes']): boolean {
    return this.context.keeper.giveUp(error, declared);
  }

  /** Saves everything so far. */
  async flush(): Promise<void> {
    await this.queue.enter(false, () => (this.availability.error ? undefined : wait(this.#save())));
  }

  async #save(): Promise<undefined> {
    await this.saves.flush();
    await this.context.replica?.save();
  }

  /** Executes a request on the open collection, without regard for those that wait. */
  perform(request: Request, asking: Asking): Result<unknown> {
    // Hot path: a closure here would cost each request one.
    if (asking.order || lacksCode(request)) return this.#performLater(request, asking);
    return this.#perform(request, asking);
  }

  *#performLater(request: Request, asking: Asking): Coroutine<unknown> {
    const { order, ...others } = asking;
    if (order) return yield* order.perform([this], () => this.perform(request, others));
    yield* needParts(this.context, request);
    return yield* outcome(this.#perform(request, asking));
  }

  #perform(request: Request, { transaction, reader, key }: Asking): Result<unknown> {
    if (transaction) return transaction.execute(this.context, request);
    if (request.op === 'drop') return this.lifecycle.drop(request);
    if (isOnBackups(request) && !this.availability.failed)
      return wait(this.withBackups((backups) => backups.execute(request)));
    this.availability.check();
    if ('live' in request) return this.lives.perform(request, reader);
    const { applied, log } = this.records;
    if (request.op === 'open')
      return request.settings.version > log.version ? -1 - applied.lastEnd : applied.lastEnd;
    if (request.op === 'save') return wait(this.#save());
    if (request.op === 'ready') return this.lifecycle.ready();
    if (isOfReplica(request)) return this.#replicate(request);
    return executeOnce(this.#store, this.context, request, key);
  }

  /** Of an import or migration accepts parts from now on, until it has ended. */
  async #expectParts(
    request: Request<'importBackup' | 'migrate'>,
    asking: Asking,
  ): Promise<unknown> {
    // Before its turn, which may come at once: both wait for the same code.
    const expected = this.withBackups((backups) => backups.expect(request));
    const executed = (async () => this.#requests.take(request, asking))();
    try {
      return (await Promise.all([executed, expected]))[0];
    } finally {
      // Not before: nobody would end what is expected later.
      const forget = () => this.backups?.forget(request.call);
      expected.then(forget, forget);
    }
  }

  /** An import may wait for its code. */
  #abortFile(call: number): void {
    if (!parts.isWanted('backups')) return;
    const aborted = this.withBackups((backups) => backups.abort(call));
    // What waits for code that does not come ends by itself.
    aborted.catch(() => undefined);
  }

  /** Its code loads when it is first needed. @throws {CairnError} `load_failed` */
  async withBackups<T>(use: (backups: BackupRequests) => T | Promise<T>): Promise<T> {
    return use(await run(this.#needBackups()));
  }

  *#needBackups(): Coroutine<BackupRequests> {
    const { BackupRequests } = yield* parts.need('backups');
    if (!this.backups) {
      this.backups = new BackupRequests(this.context, this.lifecycle);
      if (this.lifecycle.isTended) this.backups.start();
    }
    return this.backups;
  }

  /** The segments that backups name; `undefined` where what knows them does not load. */
  async #keptByBackups(): Promise<ReadonlySet<number> | undefined> {
    if (!(await this.lifecycle.hasBackups())) return new Set();
    const code = await parts.load('backups').catch(() => undefined);
    return code?.keptSegments(this.context);
  }

  /** With that of backups: one is made before segments get the columns of an index. */
  async #loadIndexCode(definitions: CollectionSettings['indexes']) {
    const code = await run(parts.need('backups'));
    for (const part of definitions.map(codePartOf)) if (part) await parts.load(part);
    this.context.events.hub.sendStatus();
    return code;
  }

  /** Nothing is answered without its rules and its index. */
  *needExpiry(settings: ExpirySettings): Coroutine<void> {
    const { ExpirySweep } = yield* parts.need('upkeep');
    this.sweep = new ExpirySweep(this.context, settings, {
      versions: this.#expiring,
      queue: this.queue,
      lives: this.lives,
      settle: () => this.settle(),
    });
  }

  *#replicate(request: ReplicaRequest): Coroutine<unknown> {
    return yield* (yield* this.needReplication()).execute(request);
  }

  *needReplication(): Coroutine<ReplicaRequests> {
    const { ReplicaRequests } = yield* parts.need('replication');
    this.#replication ??= new ReplicaRequests(this.context);
    return this.#replication;
  }
}

/** The options of a collection that count for all of its handles. */
function sharedOptions(settings: CollectionSettings): string {
  const { created, updated, archived, unarchived, expire_after } = settings;
  return JSON.stringify([created, updated, archived, unarchived, expire_after]);
}

const expiryOf = ({ expire_after }: CollectionSettings) => JSON.stringify(expire_after);
