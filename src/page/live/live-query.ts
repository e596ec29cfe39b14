import type { LiveListener, LiveSnapshot, WatchHandlers } from '../../api/live-options.ts';
import { checkOptions } from '../../api/options/option-checks.ts';
import { callSafely, checkListener } from '../../async/emitter.ts';
import { inMicrotask } from '../../async/next-turn.ts';
import { asCairnError, CollectionError } from '../../errors/errors.ts';
import { findChecks } from '../find/search.ts';
import type { LiveFeed } from './live-feed.ts';
import type { LiveIteration } from './live-reading.ts';
import type { LiveSource } from './live-source.ts';

/** How long a call of `getSnapshot()` counts as reading. */
const SNAPSHOT_READ_MS = 1000;

const UNREAD = Object.freeze({ status: 'pending', data: undefined, error: undefined });

const { where: handler } = findChecks;
const HANDLERS = { enter: handler, update: handler, exit: handler, error: handler };

/** Loaded on demand: most pages only subscribe. */
const loadReading = () => import('./live-reading.ts');

/**
 * A result that stays up to date: documents, one document, a count, a value.
 *
 * It starts with its first reader, who subscribes, iterates, awaits `ready` or calls
 * `getSnapshot()`, and stops after its last. Documents that did not change stay the same objects.
 * All readers share them, so they are deeply frozen: changing one throws a TypeError. Maps, Sets,
 * Dates, Blobs and binary values cannot be frozen; leave them as they are.
 *
 * Once a change is acknowledged, the live queries of the same client that are `ready` show it:
 * after `await orders.insert(…)`, `getSnapshot()` has the new document. Not with `throttle` or a
 * pattern among the criteria, whose results come later.
 *
 * A function among the params runs for each new or changed document. It does not run again when a
 * variable of its closure changes: make a new live query then.
 *
 * `subscribe`, `getSnapshot` and `getServerSnapshot` need no `this`: they are the arguments of
 * React's `useSyncExternalStore`.
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
  /** `never` makes the class covariant in `T`. */
  readonly #readers = new Set<{ readonly listener: LiveListener<never> }>();
  #snapshot: LiveSnapshot<T> = UNREAD;
  #feed: Promise<LiveFeed | undefined> | undefined;
  #running = false;
  /** Whether a request went to the engine. */
  #asked = false;
  #closed = false;
  #leaving: ReturnType<typeof setTimeout> | undefined;

  constructor(source: LiveSource) {
    this.#source = source;
  }

  /**
   * Calls the listener with each new snapshot, not with the current one. After an error the next
   * subscription tries again, unless others are still subscribed.
   *
   * @returns a function that ends the subscription.
   */
  readonly subscribe = (listener: LiveListener<T>): (() => void) => {
    checkListener(listener);
    // Wrapped: a function added twice is called twice, and removed one by one.
    const reader = { listener };
    // A run that failed may not be stopped yet, see `#leaveAfter`.
    if (this.#snapshot.error && this.#readers.size === 0) this.#stop();
    this.#readers.add(reader);
    this.#start();
    return () => {
      if (this.#readers.delete(reader)) this.#leaveAfter(0);
    };
  };

  /** The current snapshot: the same object until it changes. Counts as reading for a second. */
  readonly getSnapshot = (): LiveSnapshot<T> => {
    this.#start();
    this.#leaveAfter(SNAPSHOT_READ_MS);
    return this.#snapshot;
  };

  /**
   * Always the same `pending` snapshot: the third argument of React's `useSyncExternalStore`, for
   * rendering on a server and for hydrating that page. Starts nothing.
   */
  readonly getServerSnapshot = (): LiveSnapshot<T> => UNREAD;

  /** A Svelte store: its `subscribe` also calls the listener at once. */
  readonly store = {
    subscribe: (run: LiveListener<T>): (() => void) => {
      const stop = this.subscribe(run);
      run(this.#snapshot);
      return stop;
    },
  };

  /** Resolves with the first snapshot that is `ready`; rejects with the query's error. */
  get ready(): Promise<LiveSnapshot<T> & { status: 'ready' }> {
    return loadReading().then(({ firstReady }) => firstReady(this));
  }

  /**
   * Iterates over the data, starting with the current. A slow loop skips results and gets the
   * newest. Ends after `close()`; throws the error of the query.
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

  /** Ends the query for good: every reader gets a snapshot with the error `closed`. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#stop();
    this.#publish({
      ...this.#snapshot,
      status: 'error',
      error: new CollectionError('closed', 'The live query was closed; make a new one.'),
    });
    this.#notify(this.#snapshot);
    this.#readers.clear();
  }

  #start(): void {
    clearTimeout(this.#leaving);
    if (this.#running || this.#closed) return;
    this.#running = true;
    // At once: a reader must not take the error of an earlier run for that of its own.
    if (this.#snapshot.error)
      this.#publish({ ...this.#snapshot, status: 'pending', error: undefined });
    this.#feed ??= this.#loadFeed();
    this.#feed.then(
      (feed) => {
        if (!feed || !this.#running) return;
        this.#asked = true;
        feed.start(this.#snapshot);
      },
      (error: unknown) => {
        this.#feed = undefined;
        this.#publish({ ...this.#snapshot, status: 'error', error: asCairnError(error) });
      },
    );
  }

  async #loadFeed(): Promise<LiveFeed | undefined> {
    const { LiveFeed } = await import('./live-feed.ts');
    // If the reader has left, as Svelte's does on a server, no channel opens: that would start the
    // engine.
    if (!this.#running) {
      this.#feed = undefined;
      return undefined;
    }
    // After all earlier calls.
    const channel = await this.#source.channel();
    const over = channel.live?.(this.#source) ?? channel;
    return new LiveFeed(this.#source, over, (snapshot) => {
      // A result may arrive after `close()`.
      if (!this.#closed) this.#publish(snapshot as LiveSnapshot<T>);
    });
  }

  /** In a later turn: a component that remounts subscribes again at once. */
  #leaveAfter(ms: number): void {
    if (this.#readers.size > 0 || !this.#running) return;
    clearTimeout(this.#leaving);
    // Before its first request the query stops at once, see `#loadFeed`.
    if (ms === 0 && !this.#asked) this.#stop();
    else this.#leaving = setTimeout(() => this.#stop(), ms);
  }

  #stop(): void {
    clearTimeout(this.#leaving);
    this.#running = false;
    this.#asked = false;
    this.#feed?.then(
      (feed) => this.#running || feed?.end(),
      // `#start` has published the failure.
      () => undefined,
    );
  }

  #publish(snapshot: LiveSnapshot<T>): void {
    this.#snapshot = Object.freeze(snapshot);
    // Later: listeners find the changes of a transaction in all live queries that show them.
    inMicrotask(() => this.#notify(snapshot));
  }

  #notify(snapshot: LiveSnapshot<T>): void {
    // Listeners may subscribe and unsubscribe meanwhile: neither is called for this snapshot.
    for (const reader of [...this.#readers]) {
      if (this.#readers.has(reader)) callSafely(reader.listener as LiveListener<T>, snapshot);
    }
  }
}

/** Calls handlers with the differences of a query's result. @returns a function that ends it. */
export function watchQuery<T extends { readonly _id: string }>(
  query: LiveQuery<readonly T[]>,
  handlers: WatchHandlers<T>,
): () => void {
  checkOptions(handlers, HANDLERS, 'watch()');
  // One that did not load fails each query too.
  loadReading().then(({ watchResult }) => watchResult(query, handlers), handlers.error);
  return () => query.close();
}
