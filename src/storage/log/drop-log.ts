import { noCheckpoint } from '../checkpoint/checkpoint-format.ts';
import type { Storage, StorageOperation } from '../drivers/driver.ts';
import { deletionsOf } from '../segments/segment-writer.ts';
import { noNote } from '../segments/stored-segment.ts';
import { type Watermark, Watermarks } from '../segments/watermarks.ts';
import type { LogState } from './log-writes.ts';
import { deleteAll, type Manifest, noManifest, putManifest, removalOf } from './manifest.ts';
import { readManifest } from './open-log.ts';
import type { SegmentLog } from './segment-log.ts';

/** A backup that outlives its collection. */
export interface LeftBackup {
  /** Stores it. */
  readonly snapshot: readonly StorageOperation[];
  /** The segments that it references. */
  readonly segments: ReadonlySet<number>;
}

/**
 * Deletes a collection, except for a tombstone where a backup is left or a client has watermarks: a
 * frozen page replays its changes when it wakes up, and they must not be applied to a new
 * collection of the same name. Nothing else may be written meanwhile.
 *
 * @param applied Watermarks of the applied changes, saved or not.
 * @param beside What is written in the same transaction.
 */
export async function dropLog(
  log: SegmentLog,
  applied: readonly Watermark[],
  left?: LeftBackup,
  beside: readonly StorageOperation[] = [],
): Promise<void> {
  const { storage, live, bodies } = log.state;
  const drop = await dropOperations(log.state, applied, left);
  try {
    await log.write(drop, beside);
  } catch (error) {
    if (!(await isDropped(storage, log.name))) throw error;
  }
  bodies.forget(log.segments.keys());
  live.states.clear();
  live.stored = undefined;
}

async function dropOperations(
  { storage, live, writer }: LogState,
  applied: readonly Watermark[],
  left: LeftBackup | undefined,
): Promise<StorageOperation[]> {
  const known = new Watermarks();
  known.merge(applied);
  const empty = live.makeManifest([], writer.last, known);
  const { name, watermarks } = empty;
  if (left) {
    const stored = await storage.keys('segments', [name]);
    const gone = stored.filter(([, number]) => !left.segments.has(number as number));
    const tombstone: Manifest = { ...empty, dropped: true };
    return [
      deleteAll('snapshots', name),
      ...[...left.snapshot, ...deletionsOf(gone), noCheckpoint(name), noNote(name)],
      putManifest(tombstone),
    ];
  }
  const tombstone: Manifest = { ...empty, dropped: true, kept_until: known.keptUntil };
  return [...removalOf(name), watermarks ? putManifest(tombstone) : noManifest(name)];
}

/** Whether a failed drop was stored nevertheless; `false` if a read fails, too. */
async function isDropped(storage: Storage, name: string): Promise<boolean> {
  try {
    const manifest = await readManifest(storage, name);
    return manifest === undefined || manifest.dropped === true;
  } catch {
    // The caller reports the failure of the drop.
    return false;
  }
}
