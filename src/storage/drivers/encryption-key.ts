import { StorageError } from '../../errors/errors.ts';
import type { StorageKey } from './driver.ts';

/**
 * The key, in `leadership`, of what an encrypted database says of its keys. An engine without a key
 * must not go on.
 */
export const ENCRYPTION_KEY: StorageKey = ['encryption'];

/** Marks what a leader asks a client of another tab before it serves it. */
export const CHALLENGE = 'cairn:challenge';

/** Marks the answer, and `false` where it is wrong. */
export const PROOF = 'cairn:proof';

export function keyMissing(): StorageError {
  return new StorageError(
    'key_missing',
    'This database is encrypted. Open it with storage: encrypted(…, { key }) of cairndb/encryption; nothing was changed.',
  );
}
