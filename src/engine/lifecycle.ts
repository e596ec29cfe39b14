import type { Clock } from '../async/clock.ts';
import { type Coroutine, wait } from '../async/coroutine.ts';
import { nextTurn } from '../async/next-turn.ts';
import type { SerialQueue } from '../async/serial-queue.ts';
import type { SnapshotCatalog } from '../backup/stored-snapshots.ts';
import { asCairnError, type StorageError } from '../errors/errors.ts';
import type { Request } from '../protocol/requests.ts';
import type { ExpirySettings } from '../protocol/settings.ts';
import type { BackupRequests } from './backups/backup-requests.ts';
import type { CollectionContext } from './collection-context.ts';
import { codePartOf } from './documents/document-index.ts';
import type { ExpirySweep } from './expiry/expiry-sweep.ts';
import type { CheckpointWriter } from './first-reads/checkpoint-writer.ts';
import type { FirstReads } from './first-reads/first-reads.ts';
import type { LiveQueries } from './live/live-queries.ts';
import { openCollection } from './loading.ts';
import { parts } from './parts.ts';
import type { ReplicaRequests } from './replication/replica-requests.ts';
import { needParts } from './request-queue.ts';

/** How long automatic backups wait where their code did not load, or storage failed. */
const TEND_AGAIN_MS = 10 * 60 * 1000;

/** The parts of a collection that begin and end with it. */
export interface CollectionParts {
  readonly queue: SerialQueue;
  readonly lives: LiveQueries;
  /** `undefined` until they are used. */
  readonly backups: BackupRequests | undefined;
  withBackups<T>(use: (backups: BackupRequests) => T | Promise<T>): Promise<T>;
  needReplication(): Coroutine<ReplicaRequests>;
  readonly first: FirstReads;
  readonly checkpoints: CheckpointWriter;
  /** With `expire_after`, once the collection opens. */
  readonly sweep: ExpirySweep | undefined;
  needExpiry(settings: ExpirySettings): Coroutine<void>;
}

/** The code of the first handle's indexes. One whose code does not come is built later. */
function loadKinds({ settings }: CollectionContext): Promise<unknown> | undefined {
  const wanted = settings.indexes.flatMap((index) => codePartOf(index) ?? []);
  const missing = wanted.filter((part) => !parts.has(part));
  return missing.length > 0
    ? Promise.allSettled(missing.map((part) => parts.load(part)))
    : undefined;
}

/**
 * Opens a collection, clears its cache, takes over restored records, renames it, drops it.
 *
 * ```
 * opening ──▶ open ──▶ dropped, renamed
 *    ├──────▶ failed ──▶ dropped
 *    └──────▶ damaged ──restored──▶ open
 * ```
 */
export class CollectionLifecycle {
  readonly retention: CacheRetention | undefined;
  readonly context: CollectionContext;
  readonly parts: CollectionParts;
  #stopped = false;
  /** Whether all of it is there, so that automatic work does not delay anybody. */
  #hasRested = false;
  /** Whether it is being dropped or renamed. */
  isLeaving = false;
  #tendAgain: (() => void) | undefined;
  /** Whether backups were stored when it was opened. */
  #stored: Promise<boolean> | undefined;

  constructor(context: CollectionContext, parts: CollectionParts) {
    this.context = context;
    this.parts = parts;
    const { clock, settings } = context;
    this.retention = settings.caching
      ? new CacheRetention(clock, settings.cache_retention_time, () => this.#clearCache())
      : undefined;
  }

  /**
   * @param after What must end first: a drop of the name, or an import into it.
   * @param stolen Whether the last leader may still write.
   */
  *open(after: Promise<unknown> | undefined, stolen: boolean): Coroutine<void> {
    const { availability, settings, storage, records, saves, keeper } = this.context;
    const { first } = this.parts;
    try {
      if (after) yield after;
      if (stolen) yield storage.claim();
      if (settings.type === 'KEY_VALUE_BASED')
        yield* needParts(this.context, { op: 'open', needs: ['updates'] });
      if (settings.expire_after) yield* this.parts.needExpiry(settings.expire_after);
      yield* openCollection(this.context, this.parts, loadKinds(this.context));
      if (records.log.replicated > 0) yield (yield* this.parts.needReplication()).open(stolen);
      records.applied.load(records.log.watermarks);
      if (stolen) yield saves.alone(() => records.log.recordTakeover());
      // A first read that waits must not see the changes behind it.
      yield first.end();
      if (first.foundDamage) this.parts.checkpoints.found(undefined);
      keeper.opened();
      this.finishOpening();
    } catch (error) {
      yield first.end();
      availability.error = error as Error;
      void keeper.closed();
      if (availability.isDamaged)
        availability.error = yield* wait(this.#explain(error as StorageError));
      throw availability.error;
    }
  }

  /** The error of a damaged collection, with the remedy where that can be told. */
  #explain(damage: StorageError): Promise<StorageError> {
    return this.parts.withBackups((backups) => backups.explain(damage)).catch(() => damage);
  }

  /** When the cache is cleared unless a request comes before; `undefined` where there is none. */
  get cachedUntil(): Date | 'never' | undefined {
    const left = this.retention?.left;
    if (left === Number.POSITIVE_INFINITY) return 'never';
    return left === undefined ? undefined : new Date(this.context.clock.now() + left);
  }

  *ready(): Coroutine<undefined> {
    const { settings, records } = this.context;
    if (settings.caching && !records.bodies.resident) yield records.bodies.load();
    return undefined;
  }

  /** @throws {CairnError} `load_failed`: then nothing has changed. */
  *drop({ backup }: Request<'drop'>): Coroutine<true> {
    return yield* (yield* parts.need('backups')).dropCollection(this, backup === true);
  }

  /** Writes what the next opening is faster by. */
  finish(): Promise<void> {
    return this.parts.checkpoints.finish();
  }

  /** Ends timers and writes. Unsaved changes are lost: save first. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#tendAgain?.();
    this.retention?.stop();
    this.parts.sweep?.stop();
    await this.context.keeper.closed();
    await this.parts.backups?.stop();
    await this.parts.checkpoints.stop();
    await this.context.saves.stop();
    await this.context.replica?.leave();
  }

  /**
   * Loads the bodies of a cached collection, and fills the maps that opening left out; requests are
   * answered meanwhile.
   */
  finishOpening(): void {
    const { events } = this.context;
    this.#loadRest().catch((cause: unknown) => events.failed(asCairnError(cause)));
  }

  async #loadRest(): Promise<void> {
    const { settings, records, saves, availability } = this.context;
    // Requests that need a document that cannot be read reject; all else goes on without it.
    if (settings.caching) await records.bodies.load().catch(() => undefined);
    for (const left of [records.table.entering(), this.context.indexes.sorting()]) {
      // Requests that waited for the opening come first.
      do {
        await nextTurn();
        if (this.#stopped || availability.error) return;
      } while (!left.next().done);
    }
    // An engine may have ended between a save and the compaction behind it.
    if (records.log.isRemovalDue) void saves.alone(() => Promise.resolve());
    this.parts.checkpoints.schedule();
    this.parts.sweep?.start();
    this.#hasRested = true;
    this.tendBackups();
  }

  /** Whether automatic backups and their expiry may run. */
  get isTended(): boolean {
    const { error } = this.context.availability;
    return this.#hasRested && !this.isLeaving && !this.#stopped && !error;
  }

  /** Starts automatic backups and their expiry, whose code loads once the engine idles. */
  tendBackups(): void {
    if (!this.isTended) return;
    const tend = async (): Promise<void> => {
      const { auto_create_backup } = this.context.settings;
      if (this.parts.backups || auto_create_backup || (await this.#hasStored()))
        await this.parts.withBackups((backups) => this.isTended && backups.start());
    };
    tend().catch((cause: unknown) => {
      const { clock, events } = this.context;
      if (!this.isTended) return;
      events.failed(asCairnError(cause));
      this.#tendAgain = clock.after(TEND_AGAIN_MS, () => this.tendBackups(), true);
    });
  }

  /** Whether there are backups, or leases on segments. */
  async hasBackups(): Promise<boolean> {
    // Without its code nobody makes any.
    if (parts.has('backups')) return true;
    this.#stored ??= this.#hasStored();
    try {
      return await this.#stored;
    } catch (error) {
      this.#stored = undefined;
      throw error;
    }
  }

  async #hasStored(): Promise<boolean> {
    const { storage, settings } = this.context;
    const keys = await storage.keys('snapshots', [settings.name]);
    if (keys.length !== 1) return keys.length > 0;
    // The list of their names stays when the last one goes.
    const [list] = (await storage.getMany('snapshots', keys)) as [Partial<SnapshotCatalog>?];
    return list?.names?.length !== 0;
  }

  #clearCache(): void {
    this.context.records.clearCache();
  }
}

/** Calls back once nothing has happened for so long. */
class CacheRetention {
  readonly #clock: Clock;
  readonly #idleMs: number;
  readonly #clear: () => void;
  #lastUse = 0;
  #cancel: (() => void) | undefined;

  /** @param minutes Idle time after which the cache is cleared, -1 for never. */
  constructor(clock: Clock, minutes: number, clear: () => void) {
    this.#clock = clock;
    this.#idleMs = minutes === -1 ? Number.POSITIVE_INFINITY : minutes * 60_000;
    this.#clear = clear;
  }

  /**
   * To be called on activity. Cheap: the timer is not moved, it looks at the last use when it
   * fires.
   */
  touch(): void {
    this.#lastUse = this.#clock.elapsed();
    if (!this.#cancel && this.#idleMs !== Number.POSITIVE_INFINITY) this.#arm(this.#idleMs);
  }

  /**
   * Milliseconds until it calls back, if nothing happens; infinite for never, `undefined` if it
   * has.
   */
  get left(): number | undefined {
    if (this.#idleMs === Number.POSITIVE_INFINITY) return this.#idleMs;
    return this.#cancel && this.#lastUse + this.#idleMs - this.#clock.elapsed();
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #arm(ms: number): void {
    this.#cancel = this.#clock.after(
      ms,
      () => {
        this.#cancel = undefined;
        const left = this.#lastUse + this.#idleMs - this.#clock.elapsed();
        if (left > 0) this.#arm(left);
        else this.#clear();
      },
      true,
    );
  }
}
