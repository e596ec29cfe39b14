import type { Clock } from '../../async/clock.ts';

/** Calls back once nothing has happened for so long. */
export class CacheRetention {
  readonly #clock: Clock;
  readonly #idleMs: number;
  readonly #clear: () => void;
  #lastUse = 0;
  #cancel: (() => void) | undefined;

  /** @param minutes Idle time after which the cache is cleared, -1 for never. */
  constructor(clock: Clock, minutes: number, clear: () => void) {
    this.#clock = clock;
    this.#idleMs = minutes === -1 ? Number.POSITIVE_INFINITY : minutes * 60_000;
    this.#clear = clear;
  }

  /**
   * To be called on activity. Cheap: the timer is not moved, it looks at the last use when it
   * fires.
   */
  touch(): void {
    this.#lastUse = this.#clock.elapsed();
    if (!this.#cancel && this.#idleMs !== Number.POSITIVE_INFINITY) this.#arm(this.#idleMs);
  }

  /**
   * Milliseconds until it calls back, if nothing happens; infinite for never, `undefined` if it
   * has.
   */
  get left(): number | undefined {
    if (this.#idleMs === Number.POSITIVE_INFINITY) return this.#idleMs;
    return this.#cancel && this.#lastUse + this.#idleMs - this.#clock.elapsed();
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #arm(ms: number): void {
    this.#cancel = this.#clock.after(
      ms,
      () => {
        this.#cancel = undefined;
        const left = this.#lastUse + this.#idleMs - this.#clock.elapsed();
        if (left > 0) this.#arm(left);
        else this.#clear();
      },
      true,
    );
  }
}
