import { noCheckpoint } from '../checkpoint/checkpoint-format.ts';
import type { Storage, StorageOperation } from '../drivers/driver.ts';
import type { SegmentState } from '../segments/compaction.ts';
import type { SegmentContent } from '../segments/segment.ts';
import { deletionsOf, type Written } from '../segments/segment-writer.ts';
import { noNote } from '../segments/stored-segment.ts';
import { KEPT_MS, type Watermark, Watermarks } from '../segments/watermarks.ts';
import { findManifest } from './list-logs.ts';
import type { LogChange, LogState, UndoablePut } from './log-writes.ts';
import { deleteAll, type Manifest, noManifest, putManifest, removalOf } from './manifest.ts';
import { readManifest } from './open-log.ts';
import type { SegmentLog } from './segment-log.ts';

/** Makes a damaged collection writable, without knowing which of its segments are live. */
export async function openDamaged(log: SegmentLog): Promise<void> {
  const { storage, live, orphans, writer } = log.state;
  const manifest = await findManifest(storage, log.name);
  live.stored = manifest;
  if (manifest) live.version = manifest.version ?? 1;
  const keys = await storage.keys('segments', [log.name]);
  orphans.add(keys.map(([, number]) => number as number));
  const highest = (keys.at(-1)?.[1] ?? 0) as number;
  await log.begin(Math.max(writer.last, (manifest?.next ?? 1) - 1, highest));
}

/**
 * Writes segments that do not count until a swap lists them, or {@link unstage} removes them.
 *
 * @param numbers Gets their numbers, those of a failed write too, which may have been stored.
 */
export async function stage(
  log: SegmentLog,
  contents: Iterable<SegmentContent>,
  numbers: number[],
): Promise<void> {
  const { live, orphans, writer } = log.state;
  const written: Written[] = [];
  const segments = writer.build(contents, live.newest, { staged: true });
  // Segments without a manifest would be data that has lost it.
  const room = { ...live.makeManifest([], writer.last), dropped: true, kept_until: 0 } as const;
  try {
    await log.write(isNew(live) ? [putManifest(room)] : [], writer.puts(segments, written));
  } finally {
    numbers.push(...written.map(({ segment }) => segment.number));
    orphans.add(numbers);
  }
}

/** Whether nothing is stored under its name. */
function isNew({ isKnown, stored }: LogState['live']): boolean {
  return isKnown && stored === undefined;
}

/** Removes what was staged, and undoes a swap in doubt: a collection that was not stored is not. */
export function unstage(log: SegmentLog, numbers: readonly number[]): Promise<void> {
  const { live } = log.state;
  const staged = numbers.filter((number) => !live.states.has(number));
  return log.remove(staged, isNew(live) ? [noManifest(log.name)] : []);
}

export interface SwapOptions {
  /** Values to put in the same transaction. */
  readonly attached: readonly UndoablePut[];
  /** The version of the documents in the new segments. */
  readonly version: number;
  /** Whether they are the same documents, migrated: what replication knows of them stays valid. */
  readonly isMigration: boolean;
}

/**
 * Makes other segments the live ones.
 *
 * @param states Those that become live.
 */
export function swapping(
  { live, orphans, writer }: LogState,
  states: ReadonlyMap<number, SegmentState>,
  { attached, version, isMigration }: SwapOptions,
): LogChange {
  const before = live.putBack();
  // A number of its own: the swap counts as a change.
  const number = ++writer.last;
  const isReplaced = live.replicated > 0 && !isMigration;
  const { version: _, ...others } = live.makeManifest(states.keys(), number);
  const manifest = {
    ...others,
    ...(isReplaced && { replicated: number }),
    ...(version > 1 && { version }),
    changed: number,
  };
  return {
    // What the checkpoint takes for dead may be live again, and its copies of documents may not be.
    operations: [...attached.map(({ put }) => put), noCheckpoint(live.name), ...live.put(manifest)],
    undo: () => [...attached.map(({ undo }) => undo), ...before],
    stored() {
      const before = [...live.states.keys()];
      live.replaceAll(states, manifest);
      orphans.forget(states.keys());
      orphans.add(before);
    },
  };
}

/** A backup that outlives its collection. */
interface LeftBackup {
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
  const { name } = empty;
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
  // The last is the end.
  const [, , at = 0] = applied.at(-1) ?? [];
  const tombstone: Manifest = { ...empty, dropped: true, kept_until: at + KEPT_MS };
  return [...removalOf(name), putManifest(tombstone)];
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
