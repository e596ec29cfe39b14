/**
 * Keeps the calls to one collection in order, whichever of a door's handles they come through: while an
 * exchange of several requests runs alone, later calls wait for their turn.
 */
export class CallOrder {
  /** Calls that wait, in order; `undefined` while nothing runs alone. */
  #waiting: (() => void)[] | undefined;

  /** Whether something runs alone, so that a call would have to wait. */
  get busy(): boolean {
    return this.#waiting !== undefined;
  }

  /** Starts when it is due: at once, or after what runs alone. */
  enter<T>(start: () => Promise<T>): Promise<T> {
    const waiting = this.#waiting;
    if (!waiting) return start();
    return new Promise((resolve, reject) => {
      waiting.push(() => this.enter(start).then(resolve, reject));
    });
  }

  /** Starts when it is due, and lets nothing else in until it has ended. */
  enterAlone<T>(start: () => Promise<T>): Promise<T> {
    return this.enter(() => {
      const waiting: (() => void)[] = [];
      this.#waiting = waiting;
      return start().finally(() => {
        this.#waiting = undefined;
        // In one go: a call made meanwhile must not come before those that wait. Where one of them runs
        // alone again, the rest of them wait again, in the same order.
        for (const go of waiting) go();
      });
    });
  }
}
