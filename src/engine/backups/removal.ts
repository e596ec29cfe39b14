import { type Coroutine, wait } from '../../async/coroutine.ts';
import type { Mutex } from '../../async/mutex.ts';
import type { SerialQueue } from '../../async/serial-queue.ts';
import { putSnapshots } from '../../backup/named-snapshots.ts';
import type { Snapshot } from '../../backup/snapshot.ts';
import { leasesOf } from '../../backup/snapshots.ts';
import { readSnapshots } from '../../backup/stored-snapshots.ts';
import { CollectionError } from '../../errors/errors.ts';
import { ended } from '../../protocol/collection-errors.ts';
import { DATABASE, type Request } from '../../protocol/requests.ts';
import { type CollectionSettings, plainSettings } from '../../protocol/settings.ts';
import { hiddenName } from '../../storage/collection-name.ts';
import type { Durability, Storage, StorageOperation } from '../../storage/drivers/driver.ts';
import { listManifests } from '../../storage/log/list-logs.ts';
import { type Manifest, noManifest, putManifest, removalOf } from '../../storage/log/manifest.ts';
import { readManifest } from '../../storage/log/open-log.ts';
import { dropLog } from '../../storage/log/replace-log.ts';
import type { Segment, SegmentBodies } from '../../storage/segments/segment.ts';
import {
  lastSegmentKey,
  lastSegmentOf,
  noteLastSegment,
  putSegment,
  readSegment,
} from '../../storage/segments/stored-segment.ts';
import { KEPT_MS, type Watermark, Watermarks } from '../../storage/segments/watermarks.ts';
import type { CollectionContext } from '../collection-context.ts';
import type { LiveQueries } from '../live/live-queries.ts';
import { END } from '../records/pending-changes.ts';
import type { BackupRequests } from './backup-requests.ts';

/** What a collection ends with, or goes on with where its end is not stored. */
export interface Ending {
  readonly context: CollectionContext;
  readonly parts: {
    readonly queue: SerialQueue;
    readonly lives: LiveQueries;
    readonly backups: BackupRequests | undefined;
    withBackups<T>(use: (backups: BackupRequests) => Promise<T>): Promise<T>;
    readonly checkpoints: { stop(): Promise<void>; resume(): void };
    readonly sweep: { stop(): void; start(): void; drain(): Promise<unknown> } | undefined;
  };
  readonly retention: { stop(): void } | undefined;
  isLeaving: boolean;
  tendBackups(): void;
  stop(): Promise<void>;
}

/** The name that a renamed collection goes on by. */
interface NewName {
  readonly name: string;
  /** Its last end. */
  readonly born: number;
}

const isEnd = ([origin]: Watermark): boolean => origin.startsWith(END);

const lastEndIn = (watermarks: readonly Watermark[] | undefined): number =>
  watermarks?.findLast(isEnd)?.[1] ?? 0;

/**
 * The watermarks of a collection that ends. Handles that were opened before it are of no later
 * collection of the name. Ends are numbered by the time, as their tombstone goes after a week.
 *
 * @param to Left out where it is dropped.
 */
function endedAt(
  { clock, records: { applied } }: CollectionContext,
  to: NewName | undefined,
): Watermark[] {
  const at = clock.now();
  const number = Math.max(applied.lastEnd + 1, at);
  const [last = ''] = applied.ends.at(-1) ?? [];
  // Drops in a row count as one.
  const drop = last.startsWith(END + END) ? last : END + END + number;
  return [...applied.watermarks, [to ? END + to.name + END + to.born : drop, number, at]];
}

/** @param backup Whether a backup of all is left. */
export function* dropCollection(lifecycle: Ending, backup: boolean): Coroutine<true> {
  const { context, parts } = lifecycle;
  const { availability, links, records, saves, replica } = context;
  if (availability.isGone) availability.check();
  const kept = backup
    ? yield* wait(parts.withBackups((backups) => backups.keepAlone()))
    : undefined;
  // What must be saved with others is, if that works: else it is lost, and they are saved without.
  if ([...links.of(saves)].length > 1) yield saves.flush().catch(() => undefined);
  yield* leave(lifecycle, undefined, (applied) =>
    dropLog(records.log, applied, kept, replica?.removal()),
  );
  return true;
}

async function renameOpen({ lifecycle }: ReachedCollection, to: string): Promise<void> {
  const { queue } = lifecycle.parts;
  queue.hasChanges = true;
  await queue.enter(true, () => renameCollection(lifecycle, to));
}

/** Handles and live queries of the name then fail. */
function* renameCollection(lifecycle: Ending, to: string): Coroutine<undefined> {
  const { availability, settings, storage, durability, records, saves, replica } =
    lifecycle.context;
  availability.check();
  yield saves.flush();
  if (replica) yield replica.save();
  // A write that failed may be stored nevertheless.
  yield saves.alone(() => records.log.write());
  const before = yield* wait(readManifest(storage, to));
  const end = { name: to, born: lastEndIn(before?.watermarks) };
  yield* leave(lifecycle, end, (applied) =>
    renameStored({ storage, durability, before }, settings.name, to, applied),
  );
  return undefined;
}

interface ReachedCollection {
  readonly availability: { readonly failed: boolean };
  readonly lifecycle: Ending;
}

/** How collections are reached, open or not. */
export interface ReachedCollections<C> {
  named(name: string): C | undefined;
  /** Opens one for its caller alone. */
  construct(settings: CollectionSettings): C;
  /** Makes others of the name wait. */
  goAhead(name: string, ended: Promise<unknown>): void;
  /** Whether one of the name is open, or something goes ahead of it. */
  isUsed(name: string): boolean;
  /** Renames and imports run one after the other: two could wait for each other's collections. */
  readonly order: Mutex;
}

/**
 * Runs a task on a collection. One that is not open is opened for the task, and handles to it wait
 * meanwhile.
 */
export async function useCollection<C extends ReachedCollection, T>(
  collections: ReachedCollections<C>,
  { name, type }: Pick<CollectionSettings, 'name' | 'type'>,
  task: (collection: C) => Promise<T>,
): Promise<T> {
  const open = collections.named(name);
  if (open && !open.availability.failed) return task(open);
  const own = collections.construct(plainSettings(name, type));
  const using = task(own).finally(() => own.lifecycle.stop());
  const ended = using.catch(() => undefined);
  collections.goAhead(name, ended);
  return using;
}

interface FilesCollection extends ReachedCollection {
  execute(request: Request): unknown;
}

/**
 * Drops the two collections in which a page keeps the files of a dropped one's documents, and those
 * that collections left behind by a rename. They stay where a backup may name files, and where a
 * collection may not have taken its files along yet: of the dropped one those that were not sent.
 */
async function dropFiles(
  collections: ReachedCollections<FilesCollection>,
  storage: Storage,
  dropped: string,
  manifests: readonly Manifest[],
): Promise<void> {
  const isThere = (name: string) =>
    collections.named(name) ?? manifests.some((one) => one.name === name && !one.dropped);
  const hasReplica = (name: string) => isThere(hiddenName('replica', name));
  /** Others that wait for a collection may wait for this. A later drop finds what fails. */
  const use = (name: string, task: (own: FilesCollection) => Promise<unknown>) =>
    (collections.named(name) || !collections.isUsed(name)) &&
    useCollection(collections, { name, type: 'DOCUMENT_BASED' }, task).catch(() => undefined);
  const asking = (request: object) => async (own: FilesCollection) =>
    own.execute({ handle: DATABASE, ...request } as Request);
  const counting = (criteria: object) => asking({ op: 'count', criteria, archived: false });
  const lacksFiles = async ({ name, watermarks }: Manifest) =>
    hasReplica(name) &&
    !(await use(`${name} files`, counting({ _id: 'device', born: lastEndIn(watermarks) })));
  for (const name of [dropped, ...manifests.map((one) => one.name.replace(/ files$/, ''))]) {
    const files = `${name} files`;
    const isFree = () => name === dropped || !(isThere(name) || hasReplica(name));
    if (!isThere(files) || !isFree()) continue;
    if ((await storage.keys('snapshots', [name])).length > 0) continue;
    const drop = async (own: FilesCollection) => isFree() && asking({ op: 'drop' })(own);
    await use(files, async (own) => {
      // Else they are somebody's own collections.
      if (!(await counting({ _id: 'device', size: 0 })(own))) return;
      if (name !== dropped || (await counting({ isSent: false })(own)))
        for (const one of manifests) if (await lacksFiles(one)) return;
      await use(`${name} file parts`, drop);
      // Last: by its note the next drop finds what is left.
      await drop(own);
    });
  }
}

/**
 * Renames a collection, open or not.
 *
 * @param isOpen Whether a handle has the new name open.
 * @throws {CollectionError} `collection_missing`, `name_taken`
 */
export async function renameAnyway(
  collections: ReachedCollections<ReachedCollection>,
  storage: Storage,
  from: string,
  to: string,
  isOpen: boolean,
): Promise<void> {
  if (isOpen) throw refused('name_taken', to, 'is open: rename before it is');
  const open = collections.named(from);
  const [source, target, left] = await Promise.all([
    readManifest(storage, from),
    readManifest(storage, to),
    storage.keys('segments', [to]),
  ]);
  const isFree = target ? target.kept_until !== undefined : left.length === 0;
  if (!isFree) throw refused('name_taken', to, 'exists: drop it first');
  if (open) await renameOpen(open, to);
  else if (!source || source.dropped)
    throw refused('collection_missing', from, 'is not stored: see collections()');
  else {
    const type = source.type as CollectionSettings['type'];
    await useCollection(collections, { name: from, type }, (own) => renameOpen(own, to));
  }
}

/** Ends all other writes, then the collection by one of its own; if that fails, all go on. */
function* leave(
  lifecycle: Ending,
  to: NewName | undefined,
  write: (applied: readonly Watermark[]) => Promise<void>,
): Coroutine<void> {
  const { availability, settings, storage, records, saves, replica, events, keeper } =
    lifecycle.context;
  const { queue, lives, checkpoints, sweep, backups } = lifecycle.parts;
  const why = ended(settings.name, to?.name);
  lifecycle.isLeaving = true;
  let decide!: () => void;
  const outcome = new Promise<void>((resolve) => {
    decide = resolve;
  });
  try {
    sweep?.stop();
    if (backups) yield backups.stop();
    yield keeper.closed();
    yield checkpoints.stop();
    // At once: none of the two is saved without the other.
    yield Promise.all([saves.leave(outcome), replica?.leave(outcome)]);
    // Earlier requests still read from storage.
    yield Promise.allSettled(queue.passing ?? []);
    const leases = leasesOf(storage);
    yield leases.readRest(settings.name);
    const applied = endedAt(lifecycle.context, to);
    const writing = write(applied);
    leases.leave(settings.name, writing, why);
    yield writing;
    // A change that is replayed now follows, or goes with it.
    records.applied.load(applied);
  } catch (error) {
    lifecycle.isLeaving = false;
    saves.resume();
    replica?.resume();
    lifecycle.tendBackups();
    checkpoints.resume();
    keeper.opened();
    sweep?.start();
    throw error;
  } finally {
    decide();
  }
  lifecycle.retention?.stop();
  availability.error = why;
  lives.fail(why);
  // Errors lose their code on the way.
  replica?.report({ report: { error: { ...why, message: why.message } } });
  events.hub.release(records.applied.watermarks);
  // Clients hear which of their handles have no collection any more.
  for (const { handles, emit } of events.hub.sessions)
    for (const [handle, { collection }] of handles.all)
      if (collection.availability === availability)
        emit({ type: 'released', detail: { handle, number: -1 } });
}

/**
 * Removes what is left of a dropped collection, and the manifests of those that were dropped so
 * long ago that no page frozen since then will replay a change to them.
 */
export async function clearUp(
  collections: ReachedCollections<FilesCollection>,
  { storage, durability, clock }: Pick<CollectionContext, 'storage' | 'durability' | 'clock'>,
  collection: string,
): Promise<void> {
  // A rename or an import may hold what this waits for, and has copies that nothing lists yet. The
  // next drop finds what is left.
  if (collections.order.held) return;
  let isComplete = true;
  // A damaged one is no tombstone for sure.
  const all = await listManifests(storage, () => {
    isComplete = false;
  });
  if (isComplete) await dropFiles(collections, storage, collection, all);
  const outlived = all.filter(
    ({ name, kept_until: until }) =>
      until !== undefined && until < clock.now() && !collections.isUsed(name),
  );
  if (outlived.length === 0) return;
  // A collection that opens under one of the names writes later. There may be a copy that was never
  // completed, of a collection to be renamed.
  const removals = outlived.flatMap(({ name }) => forgetting(name));
  await storage.write(removals, durability);
}

function refused(
  code: 'name_taken' | 'collection_missing',
  name: string,
  why: string,
): CollectionError {
  return new CollectionError(code, `Collection "${name}" ${why}.`, { place: name });
}

/** Segments copied in one write: about 2 MB. */
const AT_ONCE = 20;

interface Target {
  readonly storage: Storage;
  readonly durability: Durability;
  /** The tombstone of the new name. */
  readonly before: Manifest | undefined;
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
  const { before } = target;
  try {
    const main = await copy(target, from, to, before);
    const beside = await copy(target, ...replica);
    // Its ends are those of the other name.
    const own = applied.filter((one) => !isEnd(one));
    const known = recentOf(before?.watermarks ?? [], own);
    const [, , at = 0] = applied.at(-1) ?? [];
    const operations: StorageOperation[] = [
      putManifest({ ...(main as Manifest), watermarks: known }),
      ...(await moveSnapshots(target.storage, from, to)),
      ...removalOf(from),
      putManifest(emptied(main as Manifest, from, at + KEPT_MS, recentOf(applied))),
    ];
    if (beside) operations.push(putManifest(beside), ...forgetting(replica[0]));
    await target.storage.write(operations, target.durability);
  } catch (error) {
    // A write that failed may be stored nevertheless. If this read fails too, the tombstone keeps
    // the copy from counting.
    const left = await readManifest(target.storage, from);
    if (left && !left.dropped) await undo(target, to, replica[1], error);
  }
}

/** Removes the copy. */
async function undo(
  { storage, durability, before }: Target,
  to: string,
  replica: string,
  cause: unknown,
): Promise<never> {
  const operations = [...removalOf(to), ...forgetting(replica)];
  operations.push(before ? putManifest(before) : noManifest(to));
  // If this fails, a tombstone stays, and goes in time with its segments.
  await storage.write(operations, durability).catch(() => undefined);
  throw cause;
}

/**
 * Copies the segments of a log to a name that is free.
 *
 * @param before The tombstone of the name.
 * @returns the manifest of the copy; `undefined` where there is no such log.
 */
async function copy(
  { storage, durability }: Target,
  from: string,
  to: string,
  before?: Manifest,
): Promise<Manifest | undefined> {
  const manifest = await readManifest(storage, from);
  if (!manifest || manifest.dropped) return undefined;
  // What is left of an attempt that ended with its tab.
  const room = emptied(manifest, to, before?.kept_until ?? 0, before?.watermarks);
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

/**
 * A tombstone with the numbers of a manifest: new segments under its name get higher ones.
 *
 * @param until `kept_until`
 */
function emptied(
  { format, type, next, changed }: Manifest,
  name: string,
  until: number,
  watermarks: readonly Watermark[] | undefined,
): Manifest {
  const known = watermarks && { watermarks };
  const empty = { format, name, type, next, changed, segments: [], dropped: true } as const;
  return { ...empty, kept_until: until, ...known };
}

function recentOf(...lists: (readonly Watermark[])[]): readonly Watermark[] {
  const known = new Watermarks();
  for (const one of lists) known.merge(one);
  return known.recent();
}

/** Removes a log as if there had been none. */
const forgetting = (name: string) => [...removalOf(name), noManifest(name)];
