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
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param seconds Silence after which the worker counts as dead. */
  constructor(seconds: number, watched: Watched) {
    this.#watched = watched;
    this.#intervalMs = seconds * 1000;
  }

  /** To be called when something was asked. */
  wake(): void {
    if (this.#timer === undefined) this.#look();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #look(): void {
    let heard = false;
    const due = performance.now() + this.#intervalMs;
    this.#watched.ping().then(
      () => {
        heard = true;
      },
      // The channel reports what went wrong to whoever waits.
      () => undefined,
    );
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      // A timer that is much too late has slept with the machine or a frozen page; the worker has too.
      const slept = performance.now() - due > this.#intervalMs;
      if (!heard && !slept) this.#watched.silent();
      else if (this.#watched.busy()) this.#look();
    }, this.#intervalMs);
  }
}
