import { asCairnError } from '../errors/as-cairn-error.ts';
import type { CairnError } from '../errors/cairn-error.ts';
import { CollectionError } from '../errors/collection-error.ts';
import type { Durability, Storage } from '../storage/driver.ts';
import { SegmentLog } from '../storage/segment-log.ts';
import type { SegmentPool } from '../storage/segment-pool.ts';
import type { Clock } from './clock.ts';
import type { StoreContext } from './context.ts';
import { DocumentIndexes, indexColumns } from './documents/document-indexes.ts';
import { DocumentStore } from './documents/document-store.ts';
import type { IdGenerator } from './documents/ids.ts';
import { IndexBuilder } from './documents/index-builder.ts';
import { KeyValueStore } from './key-values/key-value-store.ts';
import { Lane } from './lane.ts';
import { LiveQueries } from './live/live-queries.ts';
import type { LiveReader } from './live/live-reader.ts';
import { nextTurn } from './next-turn.ts';
import { Aborts } from './pace.ts';
import type { Change, OperationName, Request } from './protocol.ts';
import { CacheRetention } from './records/cache-retention.ts';
import { RecordStore } from './records/record-store.ts';
import { SaveSchedule } from './records/save-schedule.ts';
import type { CollectionSettings } from './settings.ts';
import { isWork, type Result, runNow, type Work } from './work.ts';

/** What an engine lends to its collections. */
export interface CollectionHost {
  readonly storage: Storage;
  readonly pool: SegmentPool;
  readonly durability: Durability;
  readonly clock: Clock;
  readonly newId: IdGenerator;
  readonly changed: (collection: string, id: string, kind: Change['kind']) => void;
  readonly saved: (collection: string, changes: number) => void;
  /** Indexes are being built, or have been when both numbers are the same. */
  readonly indexing: (collection: string, documents: number, total: number) => void;
  readonly failed: (collection: string, error: CairnError) => void;
  /** From now on the name is free, and can be opened again once the drop has ended. */
  readonly dropping: (collection: HostedCollection, drop: Promise<unknown>) => void;
}

/** Operations that change something: where they must wait, later requests wait with them. */
const CHANGING: ReadonlySet<OperationName> = new Set<OperationName>([
  'open',
  'ready',
  'drop',
  'patch',
  'archive',
  'unarchive',
  'deleteMany',
  'kvSet',
  'kvDelete',
  'kvPush',
  'kvAdd',
  'kvRemove',
  'kvReplace',
]);

/**
 * A collection as the engine has it: its records, what they mean, when they are saved and how long they
 * stay in memory. Shared by all handles to it.
 *
 * ```
 * opening ──▶ open ──▶ dropped
 *    └──────▶ failed ──▶ dropped
 * ```
 */
export class HostedCollection {
  readonly settings: CollectionSettings;
  readonly records: RecordStore;
  readonly lives: LiveQueries;
  readonly #host: CollectionHost;
  readonly #lane = new Lane();
  readonly #indexes: DocumentIndexes;
  readonly #aborts = new Aborts();
  readonly #saves: SaveSchedule;
  readonly #retention: CacheRetention | undefined;
  readonly #store: { execute(request: Request): Result<unknown> };
  #stopped = false;
  /** Why the collection cannot be used: it did not open, or was dropped. */
  #unusable: Error | undefined;

  /** @param after What has to end before the collection is opened. */
  constructor(settings: CollectionSettings, host: CollectionHost, after?: Promise<unknown>) {
    const { name, type, caching } = settings;
    const { storage, pool, durability, clock, newId } = host;
    this.settings = settings;
    this.#host = host;
    const columns = indexColumns(settings);
    const log = new SegmentLog({ name, type, storage, pool, durability, caching, columns });
    this.records = new RecordStore(log, clock, caching);
    this.#indexes = new DocumentIndexes(settings);
    const context: StoreContext = {
      settings,
      records: this.records,
      indexes: this.#indexes,
      aborts: this.#aborts,
      clock,
      newId,
      changed: (id, kind) => {
        this.lives.touch(id);
        host.changed(name, id, kind);
      },
    };
    this.lives = new LiveQueries(context);
    this.#store =
      type === 'DOCUMENT_BASED' ? new DocumentStore(context) : new KeyValueStore(context);
    this.#saves = new SaveSchedule(this.records, settings, clock, {
      saved: (changes) => {
        this.#log(`saved ${changes} changes`);
        host.saved(name, changes);
      },
      failed: (error) => host.failed(name, error),
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
   */
  execute(request: Request, reader?: LiveReader): unknown {
    this.#retention?.touch();
    // At once, whatever keeps others waiting.
    if (request.op === 'abort') return this.#aborts.abort(request.call);
    const result = this.#lane.enter(CHANGING.has(request.op), () => this.#perform(request, reader));
    if (result instanceof Promise && 'call' in request) this.#aborts.note(request.call, result);
    if (request.op === 'drop' && request.enabled && !this.#unusable)
      this.#host.dropping(this, Promise.resolve(result));
    return result;
  }

  /** Executes a request now, or throws if something would have to be waited for. */
  executeNow(request: Request): unknown {
    this.#retention?.touch();
    if (!this.settings.caching)
      throw notInMemory(`collection "${this.settings.name}" has caching: false`);
    if (this.#lane.busy)
      throw notInMemory('earlier calls are still waiting; await collection.ready first');
    this.#aborts.immediate = true;
    try {
      const result = this.#perform(request);
      return isWork(result) ? runNow(result) : result;
    } finally {
      this.#aborts.immediate = false;
    }
  }

  /** Ends a scan that nobody goes on with. */
  endScan(cursor: number): void {
    this.#store.execute({ op: 'scanEnd', handle: 0, cursor });
  }

  /** To be called after a batch: what it changed is told to live queries, and may have to be saved. */
  settle(): void {
    if (this.#unusable) return;
    this.lives.settle();
    this.#saves.check();
  }

  /** Saves everything so far. */
  async flush(): Promise<void> {
    await this.#lane.enter(false, () => (this.#unusable ? undefined : wait(this.#saves.flush())));
  }

  /** Whether it could not be opened, so that opening it again makes sense. */
  get failed(): boolean {
    return this.#unusable !== undefined;
  }

  /** Ends timers and writes. What is not saved by then is lost. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#retention?.stop();
    await this.#saves.stop();
  }

  #perform(request: Request, reader?: LiveReader): Result<unknown> {
    if (request.op === 'drop') return this.#drop(request.enabled);
    if (this.#unusable) throw this.#unusable;
    if ('live' in request) return this.lives.perform(request, reader);
    if (request.op === 'open') return undefined;
    if (request.op === 'save') return wait(this.#saves.flush());
    if (request.op === 'ready') return this.#ready();
    return this.#store.execute(request);
  }

  *#open(after: Promise<unknown> | undefined): Work<void> {
    try {
      if (after) yield after;
      const { name } = this.settings;
      const builder = new IndexBuilder(this.records, this.#indexes);
      const opening = this.records.log.open(
        (type) => {
          if (type !== this.settings.type) throw typeMismatch(name, type, this.settings.type);
        },
        (segment) => {
          this.records.fold(segment);
          builder.note(segment);
        },
      );
      yield opening;
      this.records.folded();
      yield* builder.build((documents, total) => this.#host.indexing(name, documents, total));
      try {
        yield* builder.write();
      } catch (error) {
        // A full disk must not keep anybody from reading, or from making room.
        this.#host.failed(name, asCairnError(error));
      }
      this.#log(`opened with ${this.records.size} records`);
      // What cannot be read is told to whoever asks for it.
      this.#settleIn().catch(() => undefined);
    } catch (error) {
      this.#unusable = error as Error;
      throw error;
    }
  }

  /** Loads what caching keeps, and sorts indexes, while requests are answered already. */
  async #settleIn(): Promise<void> {
    if (this.settings.caching) await this.records.load();
    for (const _slice of this.#indexes.sorting()) {
      await nextTurn();
      if (this.#stopped || this.#unusable) return;
    }
  }

  *#ready(): Work<undefined> {
    if (this.settings.caching && !this.records.resident) yield this.records.load();
    return undefined;
  }

  *#drop(enabled: boolean): Work<true> {
    const { name } = this.settings;
    if (!enabled) {
      throw new CollectionError(
        'drop_disabled',
        `Drop() of collection "${name}" is not enabled; construct it with activate_drop_method: true.`,
        { place: name },
      );
    }
    if (this.#unusable instanceof CollectionError) throw this.#unusable;
    yield this.#saves.stop();
    // What was asked before still reads from storage.
    yield this.#lane.passed();
    try {
      yield this.records.log.drop();
    } catch (error) {
      this.#saves.resume();
      throw error;
    }
    this.#retention?.stop();
    this.#unusable = dropped(name);
    this.lives.fail(this.#unusable);
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

function* wait(promise: Promise<unknown>): Work<undefined> {
  yield promise;
  return undefined;
}

function notInMemory(why: string): CollectionError {
  return new CollectionError('sync_unavailable', `collection.sync cannot be used here: ${why}.`);
}

/** @param name Left out by a worker that has taken the place of the one where it was dropped. */
export function dropped(name?: string): CollectionError {
  return new CollectionError(
    'collection_dropped',
    `Collection ${name === undefined ? '' : `"${name}" `}was dropped; construct it again to start anew.`,
    { place: name },
  );
}

export function typeMismatch(name: string, is: string, asked: string): CollectionError {
  return new CollectionError(
    'type_mismatch',
    `Collection "${name}" is ${is} and cannot be opened as ${asked}; the type is fixed when a collection is made.`,
    { place: name },
  );
}
