import type { Clock } from '../../async/clock.ts';
import { longestDelay } from '../../async/retries.ts';
import { orAborted } from '../../page/sending/call-arguments.ts';

/** A wait for changes that ended sooner was not held by the server. */
const HELD_MS = 5000;

/** Spaces waits for changes that end early and bring none. */
export class Slowdown {
  readonly #clock: Clock;
  /** The checkpoint of the last wait. */
  #after: string | undefined;
  /** Waits for that checkpoint that ended early. */
  #early = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Runs a wait for changes, after a pause if earlier ones have ended early.
   *
   * @param after Names the checkpoint: what brings no progress is no change.
   * @throws the reason of the signal.
   */
  async run<T>(after: string | undefined, signal: AbortSignal, wait: () => Promise<T>): Promise<T> {
    if (after !== this.#after) this.#early = 0;
    this.#after = after;
    await this.#pause(signal);
    const began = this.#clock.elapsed();
    try {
      return await wait();
    } finally {
      const isHeld = this.#clock.elapsed() - began >= HELD_MS;
      // What the client ended says nothing of the server; a failure does.
      if (!signal.aborted) this.#early = isHeld ? 0 : this.#early + 1;
    }
  }

  /** The first wait that ended early may have had real changes. */
  async #pause(signal: AbortSignal): Promise<void> {
    if (this.#early < 2) return;
    const ms = longestDelay(this.#early - 1);
    let cancel: (() => void) | undefined;
    const due = new Promise<void>((resolve) => {
      cancel = this.#clock.after(ms, resolve, true);
    });
    try {
      await orAborted(due, signal);
    } finally {
      cancel?.();
    }
  }
}
