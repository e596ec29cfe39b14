/**
 * Time, passed in so that tests and simulations can drive it. Instants that are stored come from `now`,
 * delays from `elapsed`: the wall clock may jump.
 */
export interface Clock {
  /** Unix time in milliseconds. */
  now(): number;
  /** Milliseconds since some moment; never goes back. */
  elapsed(): number;
  /**
   * Calls back once after a delay in milliseconds.
   *
   * @param background Whether a Node process may end before it is due.
   * @returns a function that cancels it.
   */
  after(ms: number, call: () => void, background?: boolean): () => void;
}

/** Longest delay a timer takes; a longer one fires at once (2^31 - 1 ms, HTML standard). */
const LONGEST_DELAY_MS = 2_147_483_647;

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(ms, call, background = false) {
    const timer = setTimeout(call, Math.min(ms, LONGEST_DELAY_MS)) as unknown;
    if (background && typeof timer === 'object') (timer as { unref?: () => void }).unref?.();
    return () => clearTimeout(timer as ReturnType<typeof setTimeout>);
  },
};
