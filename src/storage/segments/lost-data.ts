import { StorageError } from '../../errors/storage-error.ts';

const REMEDY =
  'verify() lists the damage and the intact backups, loadBackup() restores one, Drop() starts anew.';

/** @param problem Half a sentence, as of {@link segmentProblem}. */
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
    `The manifest of collection "${name}" is missing from storage, though it has documents. ${REMEDY}`,
    { place: name },
  );
}
