import { Backoff } from '../../engine/scheduling/backoff.ts';
import type { Clock } from '../../engine/scheduling/clock.ts';
import { asCairnError } from '../../errors/as-cairn-error.ts';
import type { LeaderEngineEvents } from './leadership.ts';

/** Wait before the second attempt; a browser that has just started often opens a database some milliseconds later. */
const FIRST_MS = 100;

/** No attempt begins later. */
const PATIENCE_MS = 15_000;

/** Codes of failures that may pass. Others need somebody to do something: free space, update the app, give another key. */
const PASSING = ['storage_failed', 'storage_lost', 'storage_timeout'];

/** Opens storage, again after a while where that fails for a reason that may pass. */
export async function openPatiently<T>(
  open: () => Promise<T>,
  { delayed, isWanted }: Pick<LeaderEngineEvents, 'delayed' | 'isWanted'>,
  clock: Clock,
): Promise<T> {
  const deadline = clock.elapsed() + PATIENCE_MS;
  const backoff = new Backoff(FIRST_MS);
  for (;;) {
    try {
      return await open();
    } catch (cause) {
      const error = asCairnError(cause);
      const wait = backoff.failed();
      const mayPass = PASSING.includes(error.code) && clock.elapsed() + wait <= deadline;
      if (!mayPass || !isWanted()) throw error;
      delayed(error);
      await new Promise<void>((resolve) => clock.after(wait, resolve));
      if (!isWanted()) throw error;
    }
  }
}
