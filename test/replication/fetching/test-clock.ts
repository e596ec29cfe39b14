import type { Clock } from '../../../src/async/clock.ts';

/** Time that passes when a test says so. */
export class TestClock implements Clock {
  #time = 0;
  readonly #timers = new Set<{ readonly due: number; readonly call: () => void }>();

  now = () => this.#time;
  elapsed = () => this.#time;

  after(ms: number, call: () => void): () => void {
    const timer = { due: this.#time + ms, call };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** How long the next timer still has. */
  get next(): number | undefined {
    const dues = Array.from(this.#timers, ({ due }) => due);
    return dues.length > 0 ? Math.min(...dues) - this.#time : undefined;
  }

  /** Lets time pass to the next timer, which may be set a moment later. */
  async step(): Promise<void> {
    while (this.next === undefined) await turn();
    this.advance(this.next);
    await turn();
  }

  advance(ms: number): void {
    this.#time += ms;
    for (const timer of [...this.#timers])
      if (timer.due <= this.#time) {
        this.#timers.delete(timer);
        timer.call();
      }
  }
}

/** A turn of the event loop: all that is ready goes on. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
