import type { Clock } from '../../engine/scheduling/clock.ts';

/** How often it looks in the time after which silence counts: it is noticed no later than a part of that after it. */
const LOOKS = 4;

/** What a watchdog watches over. */
export interface Watched {
  /** Whether anything is waiting for an answer. */
  readonly busy: () => boolean;
  /** Asks for a sign of life. */
  readonly ping: () => Promise<unknown>;
  /** There was none for the whole time. */
  readonly silent: () => void;
}

/**
 * Looks after a worker while something waits for its answer: a worker that runs out of memory dies without
 * any event, and comlink waits for it for ever.
 */
export class Watchdog {
  readonly #watched: Watched;
  readonly #intervalMs: number;
  readonly #clock: Clock;
  #cancel: (() => void) | undefined;

  /** @param seconds Silence after which the worker counts as dead. */
  constructor(seconds: number, clock: Clock, watched: Watched) {
    this.#clock = clock;
    this.#watched = watched;
    this.#intervalMs = seconds * 1000;
  }

  /** To be called when something was asked. */
  wake(): void {
    if (!this.#cancel) this.#look();
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #look(): void {
    const sign = { heard: false };
    this.#watched.ping().then(
      () => {
        sign.heard = true;
      },
      // The channel reports what went wrong to whoever waits.
      () => undefined,
    );
    this.#wait(sign, LOOKS);
  }

  #wait(sign: { readonly heard: boolean }, looks: number): void {
    const due = this.#clock.elapsed() + this.#intervalMs / LOOKS;
    this.#cancel = this.#clock.after(this.#intervalMs / LOOKS, () => {
      this.#cancel = undefined;
      // A timer that is much too late has slept with the machine or a frozen page; the worker has too.
      const slept = this.#clock.elapsed() - due > this.#intervalMs;
      if (!sign.heard && !slept) {
        if (looks > 1) this.#wait(sign, looks - 1);
        else this.#watched.silent();
      } else if (this.#watched.busy()) this.#look();
    });
  }
}
