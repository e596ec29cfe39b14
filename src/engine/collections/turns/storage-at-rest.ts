import type { FencedStorage } from '../../../storage/fenced-storage.ts';
import { type Coroutine, isCoroutine, type Result } from '../../scheduling/coroutine.ts';

/**
 * Executes a request that may hang the thread while storage rests: nothing is in flight when it begins, and no write begins
 * before it ends. In WebKit a transaction stays open when the worker that began it is terminated, and blocks the next leader
 * for a minute (test/browser/hung-query.test.ts).
 */
export function* atRest<T>(storage: FencedStorage, execute: () => Result<T>): Coroutine<T> {
  // Requests of many clients overlap, and would keep the writes waiting for ever.
  while (storage.hasHeldWrites) yield storage.writesBegun();
  const release = storage.holdWrites();
  try {
    if (storage.isBusy) yield storage.idle();
    const result = execute();
    return isCoroutine(result) ? yield* result : result;
  } finally {
    release();
  }
}
