/**
 * Time, passed in so that tests and simulations can drive it. Instants that are stored come from
 * `now`, delays from `elapsed`: the wall clock may jump.
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

/** No wait is longer: storage that has recovered is noticed within so many milliseconds. */
const LAST_MS = 30_000;

/** Waits before something that failed is tried again, each twice as long as the one before. */
export class Backoff {
  readonly #firstMs: number;
  #waitMs = 0;

  constructor(firstMs: number) {
    this.#firstMs = firstMs;
  }

  /** Milliseconds to wait by now; 0 where the last attempt did not fail. */
  get waitMs(): number {
    return this.#waitMs;
  }

  /** Returns the milliseconds to wait. */
  failed(): number {
    this.#waitMs = Math.min(Math.max(this.#waitMs * 2, this.#firstMs), LAST_MS);
    return this.#waitMs;
  }

  succeeded(): void {
    this.#waitMs = 0;
  }
}

/** What `close()` waits for longer has lost its database. */
export const CLOSE_DEADLINE_MS = 2000;

/** Settles as the promise does, or rejects with the error made by `late` when it takes too long. */
export function withDeadline<T>(promise: Promise<T>, ms: number, late: () => Error): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  return Promise.race([promise, deadline]).finally(() => clearTimeout(timer));
}
