import type { StorageOperation, StoragePut } from '../drivers/driver.ts';

/** Undoes failed writes that may be stored nevertheless. The undo goes with the next write, ahead of its operations. */
export class UndoLog {
  /** By failed write. The logs that shared a write share its undo: the first that writes undoes all of it, for all. */
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
