import { asCairnError } from '../../errors/as-cairn-error.ts';
import { CollectionError } from '../../errors/collection-error.ts';
import { loadCalls } from '../calls/load-calls.ts';
import { callSafely, checkListener } from '../emitter.ts';
import type { LiveFeed } from './live-feed.ts';
import type { LiveIteration } from './live-reading.ts';
import type { LiveListener, LiveSnapshot } from './live-snapshot.ts';
import type { LiveSource } from './live-source.ts';

/** How long somebody who only calls `getSnapshot()` counts as a reader. */
const LOOK_MS = 1000;

const UNREAD = Object.freeze({ status: 'pending', data: undefined, error: undefined });

/** What most pages never need. */
const loadReading = () => import('./live-reading.ts');

/**
 * A result that stays true: documents, one document, a count, a value.
 *
 * Nothing is asked of the engine before somebody reads it: subscribes, iterates, waits for `ready` or calls
 * `getSnapshot()`; when the last reader has left it ends there. What did not change stays the same object
 * from snapshot to snapshot, and a change that does not touch the result is not told.
 *
 * `subscribe` and `getSnapshot` need no `this`: they are what React's `useSyncExternalStore` takes.
 *
 * @example
 * ```ts
 * const open = orders.live({ done: false }, { sort: { due: 1 }, limit: 20 });
 * const stop = open.subscribe(({ status, data }) => console.log(status, data));
 * stop();
 * for await (const data of open) console.log(data.length);
 * ```
 */
export class LiveQuery<T> implements AsyncIterable<T> {
  readonly #source: LiveSource;
  /** Typed so that a query of more is one of less. */
  readonly #readers = new Set<{ readonly listener: LiveListener<never> }>();
  #snapshot: LiveSnapshot<T> = UNREAD;
  #feed: Promise<LiveFeed> | undefined;
  #running = false;
  /** Whether the engine was asked. */
  #asked = false;
  #closed = false;
  #leaving: ReturnType<typeof setTimeout> | undefined;

  constructor(source: LiveSource) {
    this.#source = source;
  }

  /**
   * Calls the listener with each new snapshot; not with the present one. Subscribing again after everybody
   * had left tries anew, also after an error.
   *
   * @returns a function that stops it.
   */
  readonly subscribe = (listener: LiveListener<T>): (() => void) => {
    checkListener(listener);
    // Wrapped, so that the same function added twice is called twice and stopped one by one.
    const reader = { listener };
    this.#readers.add(reader);
    this.#start();
    return () => {
      if (this.#readers.delete(reader)) this.#leaveAfter(0);
    };
  };

  /** What is known now: the same object until it changes. */
  readonly getSnapshot = (): LiveSnapshot<T> => {
    this.#start();
    this.#leaveAfter(LOOK_MS);
    return this.#snapshot;
  };

  /**
   * The snapshot of a query that nobody has read, always `pending`: the third argument of React's
   * `useSyncExternalStore`, for rendering on a server and for the first render of that page. Starts nothing.
   */
  readonly getServerSnapshot = (): LiveSnapshot<T> => UNREAD;

  /** The same as a Svelte store: its `subscribe` also calls at once. */
  readonly store = {
    subscribe: (run: LiveListener<T>): (() => void) => {
      const stop = this.subscribe(run);
      run(this.#snapshot);
      return stop;
    },
  };

  /** Resolves with the first snapshot that is `ready`; rejects with the error where there is none. */
  get ready(): Promise<LiveSnapshot<T> & { status: 'ready' }> {
    return loadReading().then(({ firstReady }) => firstReady(this));
  }

  /**
   * Iterates over the data, beginning with the present: the newest each time, however slow the loop is. Ends
   * with `close()`, and throws the error of the query.
   */
  [Symbol.asyncIterator](): AsyncIterableIterator<T, undefined> {
    let loop: Promise<LiveIteration<T>> | undefined;
    const begun = () => {
      loop ??= loadReading().then(({ LiveIteration }) => new LiveIteration(this));
      return loop;
    };
    return {
      next: async () => (await begun()).next(),
      return: async () => (await begun()).return(),
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  /** Ends it for good, for all who read it: they are told the error `closed`. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#stop();
    this.#publish({
      ...this.#snapshot,
      status: 'error',
      error: new CollectionError('closed', 'The live query was closed; make a new one.'),
    });
    this.#readers.clear();
  }

  #start(): void {
    clearTimeout(this.#leaving);
    if (this.#running || this.#closed) return;
    this.#running = true;
    // It asks after what was called before.
    this.#feed ??= Promise.all([import('./live-feed.ts'), loadCalls()]).then(
      ([{ LiveFeed }]) =>
        new LiveFeed(this.#source, (snapshot) => {
          // What was on its way when it was closed.
          if (!this.#closed) this.#publish(snapshot as LiveSnapshot<T>);
        }),
    );
    this.#feed.then(
      (feed) => {
        if (!this.#running) return;
        this.#asked = true;
        feed.start(this.#snapshot);
      },
      (error: unknown) => {
        this.#feed = undefined;
        this.#publish({ ...this.#snapshot, status: 'error', error: asCairnError(error) });
      },
    );
  }

  /** In a later turn: a component that is mounted anew comes back at once. */
  #leaveAfter(ms: number): void {
    if (this.#readers.size > 0 || !this.#running) return;
    clearTimeout(this.#leaving);
    // Svelte, on a server, unsubscribes at once: no engine starts for that.
    if (ms === 0 && !this.#asked) this.#stop();
    else this.#leaving = setTimeout(() => this.#stop(), ms);
  }

  #stop(): void {
    clearTimeout(this.#leaving);
    this.#running = false;
    this.#asked = false;
    this.#feed?.then(
      (feed) => this.#running || feed.end(),
      // Told when it was started.
      () => undefined,
    );
  }

  #publish(snapshot: LiveSnapshot<T>): void {
    this.#snapshot = Object.freeze(snapshot);
    // Who comes meanwhile is not told, nor who leaves.
    for (const reader of [...this.#readers]) {
      if (this.#readers.has(reader)) callSafely(reader.listener as LiveListener<T>, snapshot);
    }
  }
}
