import type { StorageOperation, StoragePut } from '../drivers/driver.ts';
import type { LogBodies } from '../segments/log-bodies.ts';
import type { RecordPart } from '../segments/record-part.ts';
import type { StoredRecord } from '../segments/stored-record.ts';
import type { Watermark } from '../segments/watermarks.ts';
import type { LiveSegmentList, LiveSegments } from './live-segments.ts';

/** A save: the newest versions of changed records, and deleted keys. */
export interface Changes {
  readonly records: Iterable<StoredRecord>;
  /** More new records; each part has segments of its own. */
  readonly parts: readonly RecordPart[];
  readonly deletes: Iterable<string>;
  /** The watermarks of the clients that made these changes. */
  readonly watermarks?: readonly Watermark[] | undefined;
}

/** Makes values to put in the transaction of a save, from the segments that are live after it. */
export type Attachment = (live: LiveSegmentList) => readonly UndoablePut[];

/** The state that the writes of a log change. */
export interface LogState {
  readonly live: LiveSegments;
  readonly undo: UndoLog;
  readonly bodies: LogBodies;
  readonly orphans: Orphans;
}

/** Segments in storage that are not live. Unless a backup references them, they are garbage. */
export class Orphans {
  readonly #live: LiveSegments;
  readonly #referenced: () => Promise<ReadonlySet<number>>;
  #numbers = new Set<number>();

  /** @param referenced The segments that backups reference. */
  constructor(live: LiveSegments, referenced: () => Promise<ReadonlySet<number>>) {
    this.#live = live;
    this.#referenced = referenced;
  }

  /** Live segments among these are no orphans. */
  add(numbers: Iterable<number>): void {
    for (const number of numbers) if (!this.#live.states.has(number)) this.#numbers.add(number);
  }

  /** Where data is damaged nothing is garbage: which segments are live is not known. */
  async findGarbage(): Promise<readonly number[]> {
    if (this.#numbers.size === 0 || !this.#live.isKnown) return [];
    const referenced = await this.#referenced();
    // The others come back through `add` when their backup is deleted.
    this.#numbers = new Set([...this.#numbers].filter((number) => !referenced.has(number)));
    return [...this.#numbers];
  }

  forget(numbers: Iterable<number>): void {
    for (const number of numbers) this.#numbers.delete(number);
  }
}

/**
 * Undoes failed writes that may be stored nevertheless. The undo goes with the next write, ahead of
 * its operations.
 */
export class UndoLog {
  /**
   * By failed write. The logs that shared a write share its undo: the first that writes undoes all
   * of it, for all.
   */
  #writes: StorageOperation[][] = [];

  /** Whether a failed write may have been stored. */
  get inDoubt(): boolean {
    return this.#writes.some(({ length }) => length > 0);
  }

  /** To be written ahead of anything else, then {@link clear}. */
  get operations(): readonly StorageOperation[] {
    return this.#writes.flat();
  }

  /** @param operations Emptied once they are stored. */
  add(operations: StorageOperation[]): void {
    this.#writes.push(operations);
  }

  /** The undo, then these operations. */
  *before(...operations: readonly Iterable<StorageOperation>[]): Generator<StorageOperation> {
    yield* this.operations;
    for (const part of operations) yield* part;
  }

  clear(): void {
    for (const undone of this.#writes) undone.length = 0;
    this.#writes = [];
  }
}

/** A put, and what takes it back. */
export interface UndoablePut {
  readonly put: StoragePut;
  readonly undo: StorageOperation;
}
