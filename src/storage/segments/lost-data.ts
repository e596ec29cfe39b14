import { StorageError } from '../../errors/errors.ts';

const REMEDY =
  'verify() lists the damage and the intact backups, loadBackup() restores one, Drop() starts anew.';

/** @param problem Half a sentence. */
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

/** One document cannot be read; the others can. */
export function documentLost(name: string, number: number, key: string): StorageError {
  return new StorageError(
    'data_damaged',
    `Document "${key}" of collection "${name}" is damaged, in segment ${number}; others can be read. ${REMEDY}`,
    { place: name },
  );
}

/** @param problem Half a sentence. */
export function manifestLost(
  name: string,
  problem = 'is missing from storage, though it has documents',
): StorageError {
  return new StorageError(
    'data_damaged',
    `The manifest of collection "${name}" ${problem}. ${REMEDY}`,
    { place: name },
  );
}
