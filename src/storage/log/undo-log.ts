import type { StorageOperation, StoragePut } from '../drivers/driver.ts';

/** Undoes failed writes that may be stored nevertheless. The undo goes with the next write, ahead of its
 * operations.
 */
export class UndoLog {
  #operations: StorageOperation[] = [];

  /** Whether a failed write may have been stored. */
  get inDoubt(): boolean {
    return this.#operations.length > 0;
  }

  /** To be written ahead of anything else, then {@link clear}. */
  get operations(): readonly StorageOperation[] {
    return this.#operations;
  }

  add(operations: readonly StorageOperation[]): void {
    this.#operations.push(...operations);
  }

  /** The undo, then these operations. */
  *before(...operations: readonly Iterable<StorageOperation>[]): Generator<StorageOperation> {
    yield* this.#operations;
    for (const part of operations) yield* part;
  }

  clear(): void {
    this.#operations = [];
  }
}

/** Undoes the put of a key that had no value. */
export function undoPut({ store, key }: StoragePut): StorageOperation {
  return { type: 'delete', store, key };
}
