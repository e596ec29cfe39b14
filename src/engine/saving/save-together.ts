import type { StorageOperation } from '../../storage/drivers/driver.ts';
import type { Attachment } from '../../storage/log/log-writes.ts';
import type { BegunSave } from '../records/begun-save.ts';
import type { RecordStore } from '../records/record-store.ts';

/**
 * Writes the pending changes of collections as segments, in one transaction: all of them are stored, or none. None
 * may be written to meanwhile. If it fails, the changes are pending again.
 *
 * @param attach Of the first collection.
 * @returns how many changes each had.
 */
export async function saveTogether(
  collections: readonly RecordStore[],
  attach?: Attachment,
): Promise<number[]> {
  const begun = collections.map((one, index) => one.beginSave(index === 0 ? attach : undefined));
  const saves = begun.filter((one) => one !== undefined);
  const [first] = collections;
  if (first && saves.length > 0) {
    try {
      for (const { log } of collections) if (log.isCompactionInDoubt) await log.resolveDoubt();
      await first.log.commit(operationsOf(saves));
    } catch (error) {
      const undoing = saves.flatMap(({ append }) => append.undoing);
      for (const save of saves) save.failed(undoing);
      throw error;
    }
    for (const save of saves) save.stored();
  }
  return begun.map((one) => one?.changes ?? 0);
}

function* operationsOf(saves: readonly BegunSave[]): Generator<StorageOperation> {
  for (const { append } of saves) yield* append.operations;
}
