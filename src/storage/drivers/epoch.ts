import { StorageError } from '../../errors/errors.ts';
import type { StorageCheck, StorageClaim, StorageKey } from './driver.ts';

/** Where the leadership is, in the store of that name. */
export const EPOCH_KEY: StorageKey = ['epoch'];

/** The stored leadership: the epoch of the newest leader that has written, and its claim token. */
export interface StoredEpoch {
  readonly epoch: number;
  readonly claim: string;
}

/** The epoch of a stored value, 0 where there is none. */
export function epochOf(value: unknown): number {
  return (value as Partial<StoredEpoch> | undefined)?.epoch ?? 0;
}

/**
 * The value that a check or claim puts, `undefined` for none: a check, or a claim that was applied
 * before.
 *
 * @param stored The value under its key, as of its transaction.
 * @throws {StorageError} `database_taken`
 */
export function resolveFence(
  stored: unknown,
  operation: StorageCheck | StorageClaim,
): StoredEpoch | undefined {
  const found = epochOf(stored);
  const { epoch } = operation;
  if (operation.type === 'check') {
    if (found !== epoch) throw databaseTaken();
    return undefined;
  }
  const { claim } = operation;
  if (found === epoch && (stored as StoredEpoch).claim === claim) return undefined;
  if (found !== epoch - 1) throw databaseTaken();
  return { epoch, claim };
}

export function databaseTaken(): StorageError {
  return new StorageError(
    'database_taken',
    'Another tab has taken over this database, so nothing was written.',
  );
}
