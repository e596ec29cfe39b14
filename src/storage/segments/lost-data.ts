import { StorageError } from '../../errors/storage-error.ts';

const REMEDY =
  'verify() lists what is damaged and which backups are whole, loadBackup() restores one; or Drop() the collection to start anew.';

/** @param problem What is wrong with it. */
export function segmentLost(
  name: string,
  number: number,
  problem = 'is missing from storage',
): StorageError {
  return new StorageError(
    'data_damaged',
    `Segment ${number} of collection "${name}" ${problem}, so documents are lost. ${REMEDY}`,
    { place: name },
  );
}

export function manifestLost(name: string): StorageError {
  return new StorageError(
    'data_damaged',
    `The manifest of collection "${name}" is missing from storage, though documents are there. ${REMEDY}`,
    { place: name },
  );
}
