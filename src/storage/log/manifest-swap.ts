import { noCheckpoint } from '../checkpoint/checkpoint-format.ts';
import type { StorageOperation } from '../drivers/driver.ts';
import type { SegmentState } from '../segments/compaction.ts';
import type { LiveSegments } from './live-segments.ts';
import type { LogState, Orphans, UndoablePut, UndoLog } from './log-writes.ts';
import { type Manifest, putManifest } from './manifest.ts';

/** How a swap is made. */
export interface SwapOptions {
  /** Values to put in the same transaction. */
  readonly attached: readonly UndoablePut[];
  /** The version of the documents in the new segments. */
  readonly version: number;
  /** Whether they are the same documents, migrated: what replication knows of them stays valid. */
  readonly isMigration: boolean;
}

/**
 * Makes other segments the live ones, atomically. Nothing else may be written until {@link stored}
 * or {@link failed} is called.
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
   */
  constructor(
    { live, undo, orphans }: LogState,
    states: ReadonlyMap<number, SegmentState>,
    number: number,
    { attached, version, isMigration }: SwapOptions,
  ) {
    this.#live = live;
    this.#undo = undo;
    this.#orphans = orphans;
    this.#states = states;
    const isReplaced = live.replicated > 0 && !isMigration;
    const { version: _, ...manifest } = live.makeManifest(states.keys(), number);
    this.#manifest = {
      ...manifest,
      ...(isReplaced && { replicated: number }),
      ...(version > 1 && { version }),
      changed: number,
    };
    this.#undoing = [...attached.map((one) => one.undo), live.undoManifest()];
    // What the checkpoint takes for dead may be live again, and its copies of documents may not be.
    const removal = noCheckpoint(manifest.name);
    const puts = attached.map(({ put }) => put);
    this.operations = [...undo.operations, ...puts, removal, putManifest(this.#manifest)];
  }

  /** Must be called when the write has succeeded. */
  stored(): void {
    this.#undo.clear();
    const before = [...this.#live.states.keys()];
    this.#live.replaceAll(this.#states, this.#manifest);
    this.#orphans.forget(this.#states.keys());
    this.#orphans.add(before);
  }

  /**
   * Must be called when the write has failed: it may have been stored, so the next write undoes it.
   */
  failed(): void {
    this.#undo.add(this.#undoing);
  }
}
