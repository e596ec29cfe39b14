import type { Clock } from '../../src/async/clock.ts';
import { parts } from '../../src/engine/parts.ts';
import { PART_NAMES } from '../../src/protocol/parts.ts';

// Loading takes time that this clock does not know.
await Promise.all(PART_NAMES.map((name) => parts.load(name)));

interface Timer {
  readonly due: number;
  readonly call: () => void;
}

/** A clock that the test advances. */
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

  /** How many timers are pending. */
  get waiting(): number {
    return this.#timers.length;
  }

  /** Advances time; due timers fire in order, each after the promises of the last have settled. */
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

  /** Changes the wall clock; no time elapses. */
  jump(ms: number): void {
    this.#begin += ms;
  }

  /** Drops all timers, as the end of a page does. */
  stop(): void {
    this.#timers = [];
  }
}

/** Resolves when all microtasks have run. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
