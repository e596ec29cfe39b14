interface Waiter {
  /** The last change that the client has. */
  readonly seq: number;
  readonly settle: (changed: boolean) => void;
}

/** Requests that wait for a change of a collection. */
export class Waiters {
  readonly #byCollection = new Map<string, Set<Waiter>>();

  /** The collections that requests wait for. */
  collections(): string[] {
    return [...this.#byCollection.keys()];
  }

  /**
   * `true` at the next change with a higher number, `false` once the signal aborts: then nothing is
   * left of it.
   */
  wait(collection: string, seq: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const waiters = this.#byCollection.get(collection) ?? new Set();
      this.#byCollection.set(collection, waiters);
      const settle = (changed: boolean): void => {
        signal.removeEventListener('abort', onAbort);
        waiters.delete(waiter);
        if (waiters.size === 0) this.#byCollection.delete(collection);
        resolve(changed);
      };
      const waiter = { seq, settle };
      const onAbort = (): void => settle(false);
      signal.addEventListener('abort', onAbort);
      waiters.add(waiter);
    });
  }

  /** Settles the requests that have none of the changes up to `seq`. */
  ring(collection: string, seq: number): void {
    for (const waiter of [...(this.#byCollection.get(collection) ?? [])]) {
      if (waiter.seq < seq) waiter.settle(true);
    }
  }

  /** Settles all: they may have missed a change. */
  ringAll(): void {
    for (const collection of this.collections()) this.ring(collection, Infinity);
  }
}
