import { putSnapshots } from '../../backup/named-snapshots.ts';
import type { Snapshot } from '../../backup/snapshot.ts';
import { readSnapshots } from '../../backup/stored-snapshots.ts';
import { hiddenName } from '../../storage/collection-name.ts';
import type { Durability, Storage, StorageOperation } from '../../storage/drivers/driver.ts';
import { removalOf } from '../../storage/log/drop-operations.ts';
import { type Manifest, noManifest, putManifest } from '../../storage/log/manifest.ts';
import { readManifest } from '../../storage/log/open-log.ts';
import type { Segment, SegmentBodies } from '../../storage/segments/segment.ts';
import {
  lastSegmentKey,
  lastSegmentOf,
  noteLastSegment,
  putSegment,
  readSegment,
} from '../../storage/segments/stored-segment.ts';
import { type Watermark, Watermarks } from '../../storage/segments/watermarks.ts';

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
export async function renameStored(
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
