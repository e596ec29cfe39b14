import { type Coroutine, wait } from '../async/coroutine.ts';
import { nextTurn } from '../async/next-turn.ts';
import type { SerialQueue } from '../async/serial-queue.ts';
import type { Snapshot } from '../backup/snapshot.ts';
import { putSnapshots, readSnapshots } from '../backup/stored-snapshots.ts';
import { asCairnError, type StorageError } from '../errors/errors.ts';
import { dropDisabled, dropped, otherVersion, renamed } from '../protocol/collection-errors.ts';
import type { Request } from '../protocol/requests.ts';
import { hiddenName } from '../storage/collection-name.ts';
import type { Durability, Storage, StorageOperation } from '../storage/drivers/driver.ts';
import { removalOf } from '../storage/log/drop-operations.ts';
import { type Manifest, noManifest, putManifest } from '../storage/log/manifest.ts';
import { readManifest } from '../storage/log/open-log.ts';
import type { Segment, SegmentBodies } from '../storage/segments/segment.ts';
import {
  lastSegmentKey,
  lastSegmentOf,
  noteLastSegment,
  putSegment,
  readSegment,
} from '../storage/segments/stored-segment.ts';
import { type Watermark, Watermarks } from '../storage/segments/watermarks.ts';
import type { BackupRequests } from './backups/backup-requests.ts';
import type { CollectionContext } from './collection-context.ts';
import type { IndexKeeper } from './documents/index-keeper.ts';
import type { ExpirySweep } from './expiry/expiry-sweep.ts';
import type { CheckpointWriter } from './first-reads/checkpoint-writer.ts';
import type { FirstReads } from './first-reads/first-reads.ts';
import type { LiveQueries } from './live/live-queries.ts';
import { openCollection } from './loading.ts';
import { CacheRetention } from './records/cache-retention.ts';
import type { ReplicaRequests } from './replication/replica-requests.ts';

/** The parts of a collection that begin and end with it. */
interface CollectionParts {
  readonly queue: SerialQueue;
  readonly lives: LiveQueries;
  readonly backups: BackupRequests;
  readonly indexes: IndexKeeper;
  readonly replication: ReplicaRequests;
  readonly first: FirstReads;
  readonly checkpoints: CheckpointWriter;
  /** With `expire_after`. */
  readonly sweep: ExpirySweep | undefined;
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
  readonly #context: CollectionContext;
  readonly #parts: CollectionParts;
  #stopped = false;

  constructor(context: CollectionContext, parts: CollectionParts) {
    this.#context = context;
    this.#parts = parts;
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
    const { availability, storage, records, saves } = this.#context;
    const { backups, indexes, first } = this.#parts;
    try {
      if (after) yield after;
      if (stolen) yield storage.claim();
      yield* openCollection(this.#context, this.#parts);
      if (records.log.replicated > 0) yield this.#parts.replication.open(stolen);
      records.applied.load(records.log.watermarks);
      if (stolen) yield saves.alone(() => records.log.recordTakeover());
      // A first read that waits must not see the changes behind it.
      yield first.end();
      if (first.foundDamage) this.#parts.checkpoints.found(undefined);
      indexes.opened();
      this.#finishOpening();
    } catch (error) {
      yield first.end();
      availability.error = error as Error;
      void indexes.closed();
      if (availability.isDamaged)
        availability.error = yield* wait(backups.explain(error as StorageError));
      throw availability.error;
    }
  }

  get cachedUntil(): Date | 'never' | undefined {
    const left = this.retention?.left;
    if (left === Number.POSITIVE_INFINITY) return 'never';
    return left === undefined ? undefined : new Date(this.#context.clock.now() + left);
  }

  *ready(): Coroutine<undefined> {
    const { settings, records } = this.#context;
    if (settings.caching && !records.bodies.resident) yield records.bodies.load();
    return undefined;
  }

  /**
   * A backup, a file or a migration has replaced all records.
   *
   * @param before The version of those.
   * @param report Reports it.
   */
  restored(before: number, report: () => void): void {
    const { availability, settings, records } = this.#context;
    const { indexes, lives } = this.#parts;
    const { version } = records.log;
    availability.error = undefined;
    this.#parts.checkpoints.found(undefined);
    indexes.opened();
    if (version === before) lives.reload();
    // Their handles cannot use the new documents.
    else lives.fail(otherVersion(settings.name, version, before));
    report();
    this.#finishOpening();
  }

  *drop({ enabled, backup }: Request<'drop'>): Coroutine<true> {
    const { availability, settings, records, saves, replica } = this.#context;
    if (!enabled) throw dropDisabled(settings.name);
    if (availability.isGone) availability.check();
    const kept = backup ? yield* wait(this.#parts.backups.keepAlone()) : undefined;
    yield saves.part();
    yield* this.#leave(dropped(settings.name), () =>
      records.log.drop(records.applied.watermarks, kept, replica?.removal()),
    );
    return true;
  }

  *rename(to: string): Coroutine<undefined> {
    const { availability, settings, storage, durability, records, saves } = this.#context;
    availability.check();
    yield saves.flush();
    yield this.#context.replica?.save() ?? Promise.resolve();
    // A write that failed may be stored nevertheless.
    yield saves.alone(() => records.log.write());
    yield* this.#leave(renamed(settings.name, to), () =>
      renameStored({ storage, durability }, settings.name, to, records.applied.watermarks),
    );
    return undefined;
  }

  /**
   * Ends all other writes, then the collection by one of its own. If that fails, everything goes
   * on.
   */
  *#leave(why: Error, write: () => Promise<void>): Coroutine<void> {
    const { availability, records, saves, replica, events } = this.#context;
    const { queue, lives, backups, indexes, checkpoints, sweep } = this.#parts;
    try {
      sweep?.stop();
      yield backups.stop();
      yield indexes.closed();
      yield checkpoints.stop();
      // At once: none of the two is saved without the other.
      yield Promise.all([saves.leave(), replica?.leave()]);
      // Earlier requests still read from storage.
      yield queue.passed();
      const writing = write();
      this.#context.leases.leave(this.#context.settings.name, writing, why);
      yield writing;
    } catch (error) {
      saves.resume();
      replica?.resume();
      backups.resume();
      checkpoints.resume();
      indexes.opened();
      sweep?.start();
      throw error;
    }
    this.retention?.stop();
    availability.error = why;
    lives.fail(why);
    events.released(records.applied.watermarks);
  }

  /** Writes what the next opening is faster by. */
  finish(): Promise<void> {
    return this.#parts.checkpoints.finish();
  }

  /** Ends timers and writes. Unsaved changes are lost: save first. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.retention?.stop();
    this.#parts.sweep?.stop();
    await this.#parts.indexes.closed();
    await this.#parts.backups.stop();
    await this.#parts.checkpoints.stop();
    await this.#context.saves.stop();
    await this.#context.replica?.leave();
  }

  /**
   * Loads the bodies of a cached collection, and fills the maps that opening left out; requests are
   * answered meanwhile.
   */
  #finishOpening(): void {
    const { events } = this.#context;
    this.#loadRest().catch((cause: unknown) => events.failed(asCairnError(cause)));
  }

  async #loadRest(): Promise<void> {
    const { settings, records, availability } = this.#context;
    this.#parts.backups.look();
    // Requests that need a document that cannot be read reject; all else goes on without it.
    if (settings.caching) await records.bodies.load().catch(() => undefined);
    for (const left of [records.table.entering(), this.#context.indexes.sorting()]) {
      // Requests that waited for the opening come first.
      do {
        await nextTurn();
        if (this.#stopped || availability.error) return;
      } while (!left.next().done);
    }
    this.#parts.checkpoints.look();
    this.#parts.sweep?.start();
  }

  #clearCache(): void {
    this.#context.records.clearCache();
  }
}

/** Segments copied in one write: about 2 MB. */
const AT_ONCE = 20;

/** The storage of an engine. */
interface Target {
  readonly storage: Storage;
  readonly durability: Durability;
}

/**
 * Gives a stored collection another name, with its backups and what replication knows. Its segments
 * are copied beside a tombstone, which keeps them from counting; then one write makes the copy live
 * and removes the original. All of the collection must be saved, and nothing may write to it.
 *
 * @param applied Its watermarks. They stay under the old name too: a frozen page must not repeat
 *   its changes there.
 * @throws {StorageError} Then the collection has its old name.
 */
async function renameStored(
  target: Target,
  from: string,
  to: string,
  applied: readonly Watermark[],
): Promise<void> {
  const replica = [hiddenName('replica', from), hiddenName('replica', to)] as const;
  const before = await readManifest(target.storage, to);
  try {
    const main = await copy(target, from, to);
    const beside = await copy(target, ...replica);
    const known = new Watermarks();
    known.merge(before?.watermarks ?? []);
    known.merge(main?.watermarks ?? []);
    const watermarks = known.size > 0 ? { watermarks: known.recent() } : undefined;
    const operations: StorageOperation[] = [
      putManifest({ ...(main as Manifest), ...watermarks }),
      ...(await moveSnapshots(target.storage, from, to)),
      ...removalOf(from),
      tombstone(main as Manifest, from, applied),
    ];
    if (beside)
      operations.push(putManifest(beside), ...removalOf(replica[0]), noManifest(replica[0]));
    await target.storage.write(operations, target.durability);
  } catch (error) {
    // A write that failed may be stored nevertheless. If this read fails too, the tombstone keeps
    // the copy from counting.
    const left = await readManifest(target.storage, from);
    if (left && !left.dropped) await undo(target, to, replica[1], before, error);
    else return;
  }
}

/** Removes the copy. */
async function undo(
  { storage, durability }: Target,
  to: string,
  replica: string,
  before: Manifest | undefined,
  cause: unknown,
): Promise<never> {
  const operations = [...removalOf(to), ...removalOf(replica), noManifest(replica)];
  operations.push(before ? putManifest(before) : noManifest(to));
  // If this fails, a tombstone stays, and goes in time with its segments.
  await storage.write(operations, durability).catch(() => undefined);
  throw cause;
}

/**
 * Copies the segments of a log to a name that is free.
 *
 * @returns the manifest of the copy; `undefined` where there is no such log.
 */
async function copy(
  { storage, durability }: Target,
  from: string,
  to: string,
): Promise<Manifest | undefined> {
  const manifest = await readManifest(storage, from);
  if (!manifest || manifest.dropped) return undefined;
  const before = await readManifest(storage, to);
  // What is left of an attempt that ended with its tab.
  const room = {
    ...emptied(manifest, to, before?.watermarks),
    kept_until: before?.kept_until ?? 0,
  };
  await storage.write([putManifest(room), ...removalOf(to)], durability);
  const keys = await storage.keys('segments', [from]);
  for (let at = 0; at < keys.length; at += AT_ONCE) {
    const some = keys.slice(at, at + AT_ONCE);
    const [segments, bodies] = await Promise.all([
      storage.getMany('segments', some) as Promise<(Segment | undefined)[]>,
      storage.getMany('bodies', some) as Promise<(SegmentBodies | undefined)[]>,
    ]);
    await storage.write(puts(from, to, segments, bodies), durability);
  }
  const [noted] = await storage.getMany('bodies', [lastSegmentKey(from)]);
  await storage.write([noteLastSegment(to, lastSegmentOf(from, noted))], durability);
  return { ...manifest, name: to };
}

function* puts(
  from: string,
  to: string,
  segments: readonly (Segment | undefined)[],
  bodies: readonly (SegmentBodies | undefined)[],
): Generator<StorageOperation> {
  for (const [index, segment] of segments.entries()) {
    if (!segment) continue;
    const key = [to, segment.number];
    const intact = readSegment(from, segment.number, segment);
    // A damaged one stays so: its checksum is of the old name.
    yield intact
      ? putSegment(to, segment)
      : { type: 'put', store: 'segments', key, value: segment };
    const own = bodies[index];
    if (own) yield { type: 'put', store: 'bodies', key, value: own, size: own.size };
  }
}

async function moveSnapshots(
  storage: Storage,
  from: string,
  to: string,
): Promise<StorageOperation[]> {
  const { whole, lost } = await readSnapshots(storage, from);
  const moved = whole.map((snapshot): Snapshot => ({ ...snapshot, collection: to }));
  return putSnapshots(to, { whole: moved, lost });
}

function tombstone(
  manifest: Manifest,
  name: string,
  applied: readonly Watermark[],
): StorageOperation {
  const known = new Watermarks();
  known.merge(applied);
  if (known.size === 0) return noManifest(name);
  return putManifest({
    ...emptied(manifest, name, known.recent()),
    kept_until: known.keptUntil,
  });
}

/** A tombstone with the numbers of a manifest: new segments under its name get higher ones. */
function emptied(
  { format, type, next, changed }: Manifest,
  name: string,
  watermarks: readonly Watermark[] | undefined,
): Manifest {
  const known = watermarks && { watermarks };
  return { ...{ format, name, type, next, changed, segments: [], dropped: true }, ...known };
}
