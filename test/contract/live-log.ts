import type { LiveQuery, LiveSnapshot } from '../../src/index.ts';

/** The snapshots of a live query, and a way to wait for more. */
export class LiveLog<T> {
  readonly snapshots: LiveSnapshot<T>[] = [];
  readonly stop: () => void;
  readonly #query: LiveQuery<T>;
  #arrived: () => void = () => undefined;

  constructor(query: LiveQuery<T>) {
    this.#query = query;
    this.stop = query.subscribe((snapshot) => {
      this.snapshots.push(snapshot);
      this.#arrived();
    });
  }

  /** Waits until the data of the newest snapshot passes the test. */
  async until(test: (data: T) => boolean): Promise<T> {
    for (;;) {
      const { status, data, error } = this.#query.getSnapshot();
      if (status === 'error') throw error;
      if (status === 'ready' && test(data)) return data;
      await new Promise<void>((resolve) => {
        this.#arrived = resolve;
      });
    }
  }

  /** Waits for an error of the query. */
  async error(): Promise<{ readonly code?: unknown; readonly data: unknown }> {
    for (;;) {
      const { status, data, error } = this.#query.getSnapshot();
      if (status === 'error') return Object.assign(error, { data });
      await new Promise<void>((resolve) => {
        this.#arrived = resolve;
      });
    }
  }
}
