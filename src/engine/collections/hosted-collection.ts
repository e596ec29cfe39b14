import type { FileHeader } from '../../backup/file/file-contents.ts';
import type { Leases } from '../../backup/leases.ts';
import { asCairnError } from '../../errors/as-cairn-error.ts';
import type { CairnError } from '../../errors/cairn-error.ts';
import { CollectionError } from '../../errors/collection-error.ts';
import { StorageError } from '../../errors/storage-error.ts';
import type { Durability } from '../../storage/drivers/driver.ts';
import type { FencedStorage } from '../../storage/fenced-storage.ts';
import { SegmentLog } from '../../storage/log/segment-log.ts';
import type { SegmentPool } from '../../storage/segments/segment-pool.ts';
import type { Watermark } from '../../storage/segments/watermarks.ts';
import { BackupRequests, type PinnedCollection } from '../backups/backup-requests.ts';
import type { SectionImport } from '../backups/section-import.ts';
import { answerLost, dropDisabled, dropped, notInMemory } from '../collection-errors.ts';
import { DocumentIndexes } from '../documents/document-indexes.ts';
import { DocumentStore } from '../documents/document-store.ts';
import type { IdGenerator } from '../documents/ids.ts';
import { type IndexDeclaration, IndexDeclarations } from '../documents/index-declarations.ts';
import { IndexKeeper } from '../documents/index-keeper.ts';
import { KeyValueStore } from '../key-values/key-value-store.ts';
import { LiveQueries } from '../live/live-queries.ts';
import type { LiveReader } from '../live/live-reader.ts';
import type { IdempotencyKey } from '../protocol/idempotency-key.ts';
import { isChanging, isEdit, isOnBackups, isPartOfFile } from '../protocol/request-kinds.ts';
import type { Change, Request } from '../protocol/requests.ts';
import type { CollectionSettings } from '../protocol/settings.ts';
import { CacheRetention } from '../records/cache-retention.ts';
import { RecordStore } from '../records/record-store.ts';
import { SaveSchedule } from '../records/save-schedule.ts';
import type { Clock } from '../scheduling/clock.ts';
import {
  type Coroutine,
  isCoroutine,
  type Result,
  runSync,
  wait,
} from '../scheduling/coroutine.ts';
import { nextTurn } from '../scheduling/next-turn.ts';
import { Aborts } from '../scheduling/pace.ts';
import { Postponed, SerialQueue } from '../scheduling/serial-queue.ts';
import type { Executor, GiveUp } from '../sessions/open-reads.ts';
import type { CollectionContext } from './collection-context.ts';
import { openCollection } from './loading.ts';
import { stampConflict } from './stamp-options.ts';

/** What an engine lends to its collections. */
export interface CollectionHost {
  readonly storage: FencedStorage;
  /** The leader before may still write: what is taken over is recorded before anything is answered. */
  readonly stolen: boolean;
  readonly pool: SegmentPool;
  readonly durability: Durability;
  readonly holds: Leases;
  readonly clock: Clock;
  readonly newId: IdGenerator;
  /** Whether anybody is told of changes. */
  readonly isWatched: () => boolean;
  readonly changed: (collection: string, id: string, kind: Change['kind']) => void;
  readonly saved: (collection: string, changes: number) => void;
  /** Changes of clients need not be handed on any more. */
  readonly settled: (watermarks: readonly Watermark[]) => void;
  /** Indexes are being built, or have been when both numbers are the same. */
  readonly indexing: (collection: string, documents: number, total: number) => void;
  readonly failed: (collection: string, error: CairnError) => void;
  /** Another state has taken the place of what the collection held. */
  readonly restored: (collection: string, backup: string | undefined, documents: number) => void;
  /** From now on the name is free, and can be opened again once the drop has ended. */
  readonly dropping: (collection: HostedCollection, drop: Promise<unknown>) => void;
}

/**
 * A collection as the engine has it: its records, what they mean, when they are saved and how long they
 * stay in memory. Shared by all handles to it.
 *
 * ```
 * opening ──▶ open ──▶ dropped
 *    ├──────▶ failed ──▶ dropped
 *    └──────▶ damaged ──restored──▶ open
 * ```
 */
export class HostedCollection implements Executor {
  readonly settings: CollectionSettings;
  readonly records: RecordStore;
  readonly lives: LiveQueries;
  readonly #host: CollectionHost;
  readonly #lane = new SerialQueue();
  readonly #context: CollectionContext;
  readonly #backups: BackupRequests;
  readonly #indexes: IndexKeeper;
  readonly #aborts = new Aborts();
  readonly #saves: SaveSchedule;
  readonly #retention: CacheRetention | undefined;
  readonly #store: { execute(request: Request): Result<unknown> };
  #stopped = false;
  /** Conflicts between handles that were warned of. */
  readonly #warned = new Set<string>();
  /** Why the collection cannot be used: it did not open, or was dropped. */
  #unusable: Error | undefined;

  /** @param after What has to end before the collection is opened. */
  constructor(settings: CollectionSettings, host: CollectionHost, after?: Promise<unknown>) {
    const { name, type, caching } = settings;
    const { storage, pool, durability, holds, clock, newId } = host;
    this.settings = settings;
    this.#host = host;
    const columns = () => this.#context.indexes.columns;
    const referenced = () => this.#backups.backups.kept();
    const epoch = () => storage.epoch();
    const log = new SegmentLog({
      ...{ name, type, storage, pool, durability, caching, columns },
      epoch,
      referenced,
    });
    this.records = new RecordStore(log, clock, caching);
    const context: CollectionContext = {
      settings,
      records: this.records,
      indexes: new DocumentIndexes(settings, []),
      declared: new IndexDeclarations(),
      aborts: this.#aborts,
      clock,
      newId,
      isWatched: () => this.lives.size > 0 || host.isWatched(),
      changed: (id, kind) => {
        this.lives.touch(id);
        host.changed(name, id, kind);
      },
    };
    this.#context = context;
    this.lives = new LiveQueries(context);
    this.#store =
      type === 'DOCUMENT_BASED' ? new DocumentStore(context) : new KeyValueStore(context);
    this.#saves = new SaveSchedule(this.records, settings, clock, {
      saved: (changes) => {
        this.#log(`saved ${changes} changes`);
        host.saved(name, changes);
        this.#tellReleased();
      },
      failed: (error) => host.failed(name, error),
    });
    const common = {
      context,
      saves: this.#saves,
      indexing: (documents: number, total: number) => host.indexing(name, documents, total),
      failed: (error: CairnError) => host.failed(name, error),
    };
    this.#backups = new BackupRequests({
      ...common,
      storage,
      holds,
      damage: () => this.#unusable,
      restored: (backup) => this.#restored(backup),
    });
    const { backups } = this.#backups;
    this.#indexes = new IndexKeeper({
      ...common,
      backUp: () => backups.create({ reason: 'indexes' }),
    });
    this.#retention = caching
      ? new CacheRetention(clock, settings.cache_retention_time, () => this.#clearCache())
      : undefined;
    // Whoever asks for something is told when this fails.
    Promise.resolve(this.#lane.enter(true, () => this.#open(after))).catch(() => undefined);
  }

  /**
   * Executes a request in its turn. The result is a promise only if something has to be waited for.
   *
   * @param reader Where the request is about a live query, who reads it.
   * @param origin Whose it is. A change that is known to be made is not made again.
   * @param declaration The indexes that its handle needs: while they are being built, only requests of others go on.
   */
  execute(
    request: Request,
    reader?: LiveReader,
    origin?: IdempotencyKey,
    declaration?: IndexDeclaration,
  ): unknown {
    this.#retention?.touch();
    // At once, whatever keeps others waiting.
    if (isPartOfFile(request)) return this.#backups.execute(request);
    if (request.op === 'abort') {
      this.#backups.abort(request.call);
      return this.#aborts.abort(request.call);
    }
    const enter = (): unknown =>
      this.#lane.enter(isChanging(request), () => {
        if (declaration && request.op !== 'drop') {
          const { pending, error } = declaration;
          if (pending) return new Postponed(pending.then(enter));
          if (error) throw error;
        }
        return this.#perform(request, reader, origin);
      });
    const result = request.op === 'importBackup' ? this.#backups.expect(request, enter) : enter();
    if (result instanceof Promise && 'call' in request) this.#aborts.note(request.call, result);
    if (request.op === 'drop' && request.enabled && (!this.#unusable || this.#isDamaged))
      this.#host.dropping(this, Promise.resolve(result));
    return result;
  }

  /** Executes a request now, or throws if something would have to be waited for. */
  executeSync(request: Request, origin?: IdempotencyKey, declaration?: IndexDeclaration): unknown {
    this.#retention?.touch();
    const { name, caching } = this.settings;
    if (!caching) throw notInMemory(name, 'it was opened with caching: false');
    if (declaration?.error) throw declaration.error;
    if (this.#lane.busy || declaration?.pending)
      throw notInMemory(name, 'earlier calls wait; await collection.ready first');
    this.#aborts.immediate = true;
    try {
      const result = this.#perform(request, undefined, origin);
      return isCoroutine(result) ? runSync(result, name) : result;
    } finally {
      this.#aborts.immediate = false;
    }
  }

  /** What it holds, as of now, for a file; saved first. */
  async freeze(): Promise<PinnedCollection> {
    return this.#lane.enter(false, () => {
      if (this.#unusable) throw this.#unusable;
      return wait(this.#backups.freeze());
    });
  }

  /** Reads a collection of a file into its place, or on top of it; nothing else is executed until `read` ends. */
  async importSection<T>(
    header: FileHeader,
    merge: boolean,
    read: (importing: SectionImport) => Promise<T>,
  ): Promise<T> {
    return this.#lane.enter(true, () => {
      if (this.#unusable && !this.#isDamaged) throw this.#unusable;
      return wait(this.#backups.importSection(header, merge, read));
    });
  }

  giveUp(request: GiveUp): void {
    if (request.op === 'scanEnd') this.#store.execute(request);
    // Parts that came before may wait for their turn.
    else if (request.op === 'insertAbandon')
      void this.#lane.enter(false, () => this.#store.execute(request));
    else if (request.op === 'abort') this.#backups.abort(request.call);
    else {
      this.#backups.endExport(request.cursor).catch((error: unknown) => {
        this.#host.failed(this.settings.name, asCairnError(error));
      });
    }
  }

  /** To be called after a batch: what it changed is told to live queries, and may have to be saved. */
  settle(): void {
    if (this.#unusable) return;
    this.lives.settle();
    this.#tellReleased();
    this.#saves.check();
  }

  /** Takes note of a new handle: its indexes count, its other options do not while the collection is open. */
  declare(settings: CollectionSettings): IndexDeclaration {
    const conflict = stampConflict(this.settings, settings);
    if (conflict !== undefined && !this.#warned.has(conflict)) {
      this.#warned.add(conflict);
      console.warn(conflict);
    }
    return this.#indexes.declare(settings.indexes);
  }

  /** A handle is gone. */
  retract(declaration: IndexDeclaration, drops: boolean): void {
    this.#indexes.retract(declaration, drops);
  }

  /** Makes a change again, at the cost of a unique index that the handle of the change does not declare. */
  async reapply(
    request: Request,
    origin: IdempotencyKey,
    declared: CollectionSettings['indexes'],
  ): Promise<void> {
    for (;;) {
      try {
        await this.execute(request, undefined, origin);
        return;
      } catch (cause) {
        const error = asCairnError(cause);
        const isViolation = error.code === 'unique_violation' && error.place !== undefined;
        if (isViolation && this.#indexes.giveUp(error.place, declared, error)) continue;
        if (request.op === 'insertPart') this.#store.execute({ ...request, op: 'insertAbandon' });
        throw error;
      }
    }
  }

  /** Saves everything so far. */
  async flush(): Promise<void> {
    await this.#lane.enter(false, () => (this.#unusable ? undefined : wait(this.#saves.flush())));
  }

  /** When its cache is cleared, if nothing is asked until then; `undefined` where there is none. */
  get cachedUntil(): Date | 'never' | undefined {
    const left = this.#retention?.left;
    if (left === Number.POSITIVE_INFINITY) return 'never';
    return left === undefined ? undefined : new Date(this.#host.clock.now() + left);
  }

  /**
   * Whether it could not be opened, so that opening it again makes sense. One that is damaged stays: two of
   * a name that are both restored would overwrite each other's segments.
   */
  get failed(): boolean {
    return this.#unusable !== undefined && !this.#isDamaged;
  }

  /** Ends timers and writes. What is not saved by then is lost. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#retention?.stop();
    await this.#indexes.closed();
    await this.#backups.stop();
    await this.#saves.stop();
  }

  #perform(request: Request, reader?: LiveReader, origin?: IdempotencyKey): Result<unknown> {
    if (request.op === 'drop') return this.#drop(request);
    if (isOnBackups(request) && (!this.#unusable || this.#isDamaged))
      return wait(this.#backups.execute(request));
    if (this.#unusable) throw this.#unusable;
    if ('live' in request) return this.lives.perform(request, reader);
    if (request.op === 'open') return undefined;
    if (request.op === 'save') return wait(this.#saves.flush().then(() => undefined));
    if (request.op === 'ready') return this.#ready();
    return origin && isEdit(request)
      ? this.#makeOnce(request, origin)
      : this.#store.execute(request);
  }

  #makeOnce(request: Request, origin: IdempotencyKey): Result<unknown> {
    // The parts before the last change nothing yet, and belong to it: it says whether they are made.
    if (request.op === 'insertPart' && !request.last) return this.#store.execute(request);
    if (this.records.applied.has(origin)) {
      if (request.op === 'insertPart') this.#store.execute({ ...request, op: 'insertAbandon' });
      throw answerLost(this.settings.name);
    }
    const result = this.#store.execute(request);
    const note = () => this.records.applied.note(origin);
    if (isCoroutine(result)) return this.#andThen(result, note);
    note();
    return result;
  }

  /** In the same turn, so that no save comes in between. */
  *#andThen<T>(work: Coroutine<T>, then: () => void): Coroutine<T> {
    const value = yield* work;
    then();
    return value;
  }

  #tellReleased(): void {
    const watermarks = this.records.takeReleased();
    if (watermarks.length > 0) this.#host.settled(watermarks);
  }

  *#open(after: Promise<unknown> | undefined): Coroutine<void> {
    try {
      if (after) yield after;
      const { stolen, storage } = this.#host;
      if (stolen) yield storage.claim();
      yield* openCollection(this.#context);
      this.records.applied.load(this.records.log.watermarks);
      if (stolen) yield this.#saves.alone(() => this.records.log.recordTakeover());
      this.#indexes.opened();
      this.#log(`opened with ${this.records.size} records`);
      // What cannot be read is told to whoever asks for it.
      this.#settleIn().catch(() => undefined);
    } catch (error) {
      this.#unusable = error as Error;
      void this.#indexes.closed();
      if (this.#isDamaged)
        this.#unusable = yield* wait(this.#backups.explain(error as StorageError));
      throw this.#unusable;
    }
  }

  /** Loads what caching keeps, and does what opening has left, while requests are answered already. */
  async #settleIn(): Promise<void> {
    this.#backups.look();
    if (this.settings.caching) await this.records.bodies.load();
    for (const left of [this.records.entering(), this.#context.indexes.sorting()]) {
      // Whoever waited for the opening comes first.
      do {
        await nextTurn();
        if (this.#stopped || this.#unusable) return;
      } while (!left.next().done);
    }
  }

  #restored(backup: string | undefined): void {
    this.#unusable = undefined;
    this.#indexes.opened();
    this.lives.reload();
    this.#host.restored(this.settings.name, backup, this.records.size);
    this.#settleIn().catch(() => undefined);
  }

  /** Whether it is to be had again by restoring a backup. */
  get #isDamaged(): boolean {
    return this.#unusable instanceof StorageError && this.#unusable.code === 'data_damaged';
  }

  *#ready(): Coroutine<undefined> {
    if (this.settings.caching && !this.records.bodies.resident) yield this.records.bodies.load();
    return undefined;
  }

  *#drop({ enabled, backup }: Request<'drop'>): Coroutine<true> {
    const { name } = this.settings;
    if (!enabled) throw dropDisabled(name);
    if (this.#unusable instanceof CollectionError) throw this.#unusable;
    const left = backup ? yield* wait(this.#backups.keepAlone()) : undefined;
    yield this.#backups.stop();
    yield this.#indexes.closed();
    yield this.#saves.stop();
    // What was asked before still reads from storage.
    yield this.#lane.passed();
    try {
      yield this.records.log.drop(this.records.applied.watermarks, left);
    } catch (error) {
      this.#saves.resume();
      this.#backups.resume();
      this.#indexes.opened();
      throw error;
    }
    this.#retention?.stop();
    this.#unusable = dropped(name);
    this.lives.fail(this.#unusable);
    this.#host.settled(this.records.applied.watermarks);
    return true;
  }

  #clearCache(): void {
    this.records.clearCache();
    this.#log('cleared its cache');
  }

  #log(event: string): void {
    if (this.settings.detailed_debugger_logs)
      console.debug(`cairndb: collection "${this.settings.name}" ${event}`);
  }
}
