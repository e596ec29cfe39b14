import type { LiveQuery, LiveSnapshot } from '../../src/index.ts';

/** What a live query has told, and a way to wait for more. */
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

  /** The data of the newest snapshot, once it fulfils the test. */
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

  /** The error of the query, once it has one. */
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
