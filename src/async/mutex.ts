/** Runs work one after another, in the order in which it comes. */
export class Mutex {
  #held: Promise<void> | undefined;

  /** Resolves when the work so far has ended, failed or not; `undefined` where none is left. */
  get held(): Promise<void> | undefined {
    return this.#held;
  }

  /** Runs work behind the other, and at once where none is left. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const running = this.#held ? this.#held.then(work) : work();
    this.hold(running);
    return running;
  }

  /** Keeps later work waiting. */
  hold(until: Promise<unknown>): void {
    const release = () => {
      if (this.#held === held) this.#held = undefined;
    };
    const held: Promise<void> = until.then(release, release);
    this.#held = held;
  }
}
