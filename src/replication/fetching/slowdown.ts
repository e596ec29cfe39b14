import type { Clock } from '../../async/clock.ts';
import { longestDelay } from '../../async/retries.ts';
import { orAborted } from '../../page/sending/call-arguments.ts';

/** A wait for changes that ended sooner was not held by the server. */
const HELD_MS = 5000;

/**
 * Resolves after a time, or with what comes sooner.
 *
 * @throws the reason of the signal.
 */
export function pauseFor<T>(
  clock: Clock,
  ms: number,
  signal?: AbortSignal,
  sooner?: Promise<T>,
): Promise<T | undefined> {
  let cancel: (() => void) | undefined;
  const due = new Promise<undefined>((resolve) => {
    cancel = clock.after(ms, () => resolve(undefined), true);
  });
  return orAborted(sooner ? Promise.race([due, sooner]) : due, signal).finally(cancel);
}

/** Spaces waits for changes that end early and bring none. */
export function slowedDown(clock: Clock) {
  /** The checkpoint of the last wait. */
  let last: string | undefined;
  /** Waits for that checkpoint that ended early. */
  let early = 0;

  /**
   * Runs a wait for changes, after a pause if earlier ones have ended early. One that resolves with
   * `undefined` has not waited.
   *
   * @param after Names the checkpoint: what brings no progress is no change.
   * @throws the reason of the signal.
   */
  return async <T>(
    after: string | undefined,
    signal: AbortSignal,
    wait: () => Promise<T>,
  ): Promise<T> => {
    if (after !== last) early = 0;
    last = after;
    // The first that ended early may have had real changes.
    if (early >= 2) await pauseFor(clock, longestDelay(early - 1), signal);
    const began = clock.elapsed();
    let isHeld = false;
    try {
      const found = await wait();
      isHeld = found === undefined;
      return found;
    } finally {
      isHeld ||= clock.elapsed() - began >= HELD_MS;
      // What the client ended says nothing of the server; a failure does.
      if (!signal.aborted) early = isHeld ? 0 : early + 1;
    }
  };
}
