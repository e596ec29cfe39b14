import type { LiveQuery } from './live-query.ts';
import type { LiveSnapshot } from './live-snapshot.ts';

type Ready<T> = LiveSnapshot<T> & { status: 'ready' };

/** Resolves with the first snapshot that has data. */
export function firstReady<T>(query: LiveQuery<T>): Promise<Ready<T>> {
  return new Promise((resolve, reject) => {
    const look = (snapshot: LiveSnapshot<T>): void => {
      if (snapshot.status === 'pending') return;
      stop();
      if (snapshot.status === 'error') reject(snapshot.error);
      else resolve(snapshot);
    };
    const stop = query.subscribe(look);
    look(query.getSnapshot());
  });
}

/** One loop over a live query. It always gets the newest data, and what it skips is never computed. */
export class LiveIteration<T> {
  readonly #query: LiveQuery<T>;
  /** Calls of `next()` that wait. */
  readonly #waiting: PromiseWithResolvers<IteratorResult<T, undefined>>[] = [];
  /** What the loop has not seen yet. */
  #unseen: LiveSnapshot<T> | undefined;
  /** Tells the feed that the loop has caught up. */
  #caughtUp: (() => void) | undefined;
  #unsubscribe: (() => void) | undefined;
  #done = false;

  constructor(query: LiveQuery<T>) {
    this.#query = query;
  }

  next(): Promise<IteratorResult<T, undefined>> {
    const result = Promise.withResolvers<IteratorResult<T, undefined>>();
    this.#waiting.push(result);
    if (!this.#unsubscribe) {
      this.#unsubscribe = this.#query.subscribe((snapshot) => this.#see(snapshot));
      this.#unseen = this.#query.getSnapshot();
    }
    this.#serve();
    return result.promise;
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    this.#end();
    return { done: true, value: undefined };
  }

  #see(snapshot: LiveSnapshot<T>): Promise<void> | undefined {
    this.#unseen = snapshot;
    this.#serve();
    if (!this.#unseen) return undefined;
    return new Promise((resolve) => {
      this.#caughtUp = resolve;
    });
  }

  #serve(): void {
    const snapshot = this.#unseen;
    if (this.#done) return this.#end();
    if (!snapshot || snapshot.status === 'pending') {
      this.#unseen = undefined;
      return;
    }
    const next = this.#waiting.shift();
    if (!next) return;
    this.#unseen = undefined;
    this.#caughtUp?.();
    if (snapshot.status === 'ready') next.resolve({ done: false, value: snapshot.data });
    else {
      // `closed` is the end that everybody expects; whoever waits besides is told the end.
      if ((snapshot.error as { code?: unknown }).code !== 'closed') next.reject(snapshot.error);
      else next.resolve({ done: true, value: undefined });
      this.#end();
    }
  }

  #end(): void {
    this.#done = true;
    this.#unsubscribe?.();
    this.#caughtUp?.();
    for (const { resolve } of this.#waiting.splice(0)) resolve({ done: true, value: undefined });
  }
}
