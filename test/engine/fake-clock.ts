import type { Clock } from '../../src/engine/scheduling/clock.ts';

interface Timer {
  readonly due: number;
  readonly call: () => void;
}

/** A clock that only goes when it is told to. */
export class FakeClock implements Clock {
  #elapsed = 0;
  /** Unix time when nothing has elapsed. */
  #begin: number;
  #timers: Timer[] = [];

  constructor(now = 1_700_000_000_000) {
    this.#begin = now;
  }

  now(): number {
    return this.#begin + this.#elapsed;
  }

  elapsed(): number {
    return this.#elapsed;
  }

  after(ms: number, call: () => void): () => void {
    const timer = { due: this.#elapsed + ms, call };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Timers that wait. */
  get waiting(): number {
    return this.#timers.length;
  }

  /** Lets time go by; what is due is called in order, with its consequences carried out in between. */
  async advance(ms: number): Promise<void> {
    const end = this.#elapsed + ms;
    for (;;) {
      const next = this.#timers
        .filter(({ due }) => due <= end)
        .reduce<Timer | undefined>((a, b) => (a && a.due <= b.due ? a : b), undefined);
      if (!next) break;
      this.#elapsed = Math.max(this.#elapsed, next.due);
      this.#timers = this.#timers.filter((other) => other !== next);
      next.call();
      await settled();
    }
    this.#elapsed = end;
  }

  /** Sets the time of the day forward or back, and lets none go by. */
  jump(ms: number): void {
    this.#begin += ms;
  }

  /** Forgets all timers, as when the page is gone. */
  stop(): void {
    this.#timers = [];
  }
}

/** Resolves when everything that waits for nothing but other promises has happened. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
