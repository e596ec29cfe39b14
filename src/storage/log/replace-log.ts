import { noCheckpoint } from '../checkpoint/checkpoint-format.ts';
import type { SegmentState } from '../segments/compaction.ts';
import type { SegmentContent } from '../segments/segment.ts';
import type { Written } from '../segments/segment-writer.ts';
import { findManifest } from './list-logs.ts';
import type { LogChange, LogState, UndoablePut } from './log-writes.ts';
import { noManifest, putManifest } from './manifest.ts';
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
    await log.write(live.isNew ? [putManifest(room)] : [], writer.puts(segments, written));
  } finally {
    numbers.push(...written.map(({ segment }) => segment.number));
    orphans.add(numbers);
  }
}

/**
 * Removes what was staged, and undoes a swap in doubt: a collection that was not stored is not.
 */
export function unstage(log: SegmentLog, numbers: readonly number[]): Promise<void> {
  const { live } = log.state;
  const staged = numbers.filter((number) => !live.states.has(number));
  return log.remove(staged, live.isNew ? [noManifest(log.name)] : []);
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
