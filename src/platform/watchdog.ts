import type { Clock } from '../async/clock.ts';

/** Checks per interval: the watchdog reports silence at most a quarter of the interval late. */
const CHECKS = 4;

/** The peer of a {@link Watchdog}. */
export interface Watched {
  /** Whether a call waits for its reply. */
  readonly busy: () => boolean;
  readonly ping: () => Promise<unknown>;
  /** Called when no ping was answered for the whole interval. */
  readonly silent: () => void;
}

/** Pings a worker while a call waits: one out of memory dies without any event. */
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

  /** Must be called with each call. */
  wake(): void {
    if (!this.#cancel) this.#ping();
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #ping(): void {
    const pong = { received: false };
    this.#watched.ping().then(
      () => {
        pong.received = true;
      },
      // The call that waits rejects with this error.
      () => undefined,
    );
    this.#wait(pong, CHECKS);
  }

  #wait(pong: { readonly received: boolean }, checks: number): void {
    const due = this.#clock.elapsed() + this.#intervalMs / CHECKS;
    this.#cancel = this.#clock.after(this.#intervalMs / CHECKS, () => {
      this.#cancel = undefined;
      // A timer this late slept with the machine or a frozen page, and so did the worker.
      const slept = this.#clock.elapsed() - due > this.#intervalMs;
      if (!pong.received && !slept) {
        if (checks > 1) this.#wait(pong, checks - 1);
        else this.#watched.silent();
      } else if (this.#watched.busy()) this.#ping();
    });
  }
}
