import type { StorageOperation, StoragePut } from '../drivers/driver.ts';
import type { SegmentState } from '../segments/compaction.ts';
import type { LiveSegments } from './live-segments.ts';
import type { LogState } from './log-writes.ts';
import { type Manifest, putManifest } from './manifest.ts';
import type { Orphans } from './orphans.ts';
import { type UndoLog, undoPut } from './undo-log.ts';

/**
 * Makes other segments the live ones, atomically. Nothing else may be written until {@link stored} or {@link failed}
 * is called.
 */
export class ManifestSwap {
  /** To be written in one transaction; those of several collections may share it. */
  readonly operations: readonly StorageOperation[];
  readonly #live: LiveSegments;
  readonly #undo: UndoLog;
  readonly #orphans: Orphans;
  readonly #states: ReadonlyMap<number, SegmentState>;
  readonly #manifest: Manifest;
  readonly #undoing: StorageOperation[];

  /**
   * @param states The segments that become live.
   * @param number A number of its own: the swap counts as a change.
   * @param attached Values of new keys, put in the same transaction.
   */
  constructor(
    { live, undo, orphans }: LogState,
    states: ReadonlyMap<number, SegmentState>,
    number: number,
    attached: readonly StoragePut[],
  ) {
    this.#live = live;
    this.#undo = undo;
    this.#orphans = orphans;
    this.#states = states;
    const replicated = live.replicated > 0 ? { replicated: number } : undefined;
    const manifest = live.makeManifest(states.keys(), number);
    this.#manifest = { ...manifest, ...replicated, changed: number };
    this.#undoing = [...attached.map(undoPut), live.undoManifest()];
    this.operations = [...undo.operations, ...attached, putManifest(this.#manifest)];
  }

  /** Must be called when the write has succeeded. */
  stored(): void {
    this.#undo.clear();
    const before = [...this.#live.states.keys()];
    this.#live.replaceAll(this.#states, this.#manifest);
    this.#orphans.forget(this.#states.keys());
    this.#orphans.add(before);
  }

  /** Must be called when the write has failed: it may have been stored, so the next write undoes it. */
  failed(): void {
    this.#undo.add(this.#undoing);
  }
}
