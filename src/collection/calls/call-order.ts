/**
 * The order of the calls to one collection, shared by a client's handles to it. While a call of several requests
 * runs exclusively, later calls wait in line.
 */
export class CallOrder {
  /** Calls in line; `undefined` while none runs exclusively. */
  #waiting: (() => void)[] | undefined;

  /** Whether a call would have to wait. */
  get busy(): boolean {
    return this.#waiting !== undefined;
  }

  /** Starts at once, or after the exclusive call. */
  enter<T>(start: () => Promise<T>): Promise<T> {
    const waiting = this.#waiting;
    if (!waiting) return start();
    return new Promise((resolve, reject) => {
      waiting.push(() => this.enter(start).then(resolve, reject));
    });
  }

  /** The same, and lets no other call in until it has ended. */
  enterExclusively<T>(start: () => Promise<T>): Promise<T> {
    return this.enter(() => {
      const waiting: (() => void)[] = [];
      this.#waiting = waiting;
      return start().finally(() => {
        this.#waiting = undefined;
        // In one go: a call made meanwhile must not overtake those in line. Where one of them runs exclusively, the
        // rest line up behind it in the same order.
        for (const go of waiting) go();
      });
    });
  }
}
