/**
 * The order of the calls to one collection, shared by a client's handles to it. While a call of
 * several requests runs exclusively, later calls queue.
 */
export class CallOrder {
  /** Queued calls; `undefined` while no call runs exclusively. */
  #waiting: (() => void)[] | undefined;

  /** Whether a new call would queue. */
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

  /** Like {@link CallOrder.enter}; later calls wait until it has ended. */
  enterExclusively<T>(start: () => Promise<T>): Promise<T> {
    return this.enter(() => {
      const waiting: (() => void)[] = [];
      this.#waiting = waiting;
      return start().finally(() => {
        this.#waiting = undefined;
        // All at once: a new call must not overtake queued ones. If one of them runs exclusively,
        // the rest queue behind it in the same order.
        for (const go of waiting) go();
      });
    });
  }
}
