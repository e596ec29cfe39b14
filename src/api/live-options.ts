import type { FindOptions, MatchOptions, SelectOption, Stamp } from './document-types.ts';
import type { IncludeOption } from './relation-types.ts';

interface Throttle {
  /**
   * Minimum milliseconds between two results; the engine computes none in between. Useful for
   * criteria with a pattern and many writes: each result of such a query waits for a save.
   * @default 0
   */
  throttle?: number | undefined;
}

/** Options of a live query: those of `filter`, and `throttle`. */
export type LiveOptions<
  T extends object,
  S extends Stamp = never,
  L extends SelectOption<T, S> = undefined,
  N extends IncludeOption<S> = undefined,
> = Omit<FindOptions<T, S, L, N>, 'after' | 'signal'> & Throttle;

/** Options of a live count. */
export type LiveCountOptions<T extends object, S extends Stamp = never> = Omit<
  MatchOptions<T, S>,
  'signal'
> &
  Throttle;

/** The state of a live query at one moment. Frozen: each change makes a new one. */
export type LiveSnapshot<T> =
  /**
   * No current result: at the start, after an error, or without readers. `data` is the last result.
   */
  | { readonly status: 'pending'; readonly data: T | undefined; readonly error: undefined }
  | { readonly status: 'ready'; readonly data: T; readonly error: undefined }
  /** The query has ended; `data` is the last result. */
  | { readonly status: 'error'; readonly data: T | undefined; readonly error: Error };

/** Receives each new snapshot. */
export type LiveListener<T> = (snapshot: LiveSnapshot<T>) => void;

/** An external store, as React's `useSyncExternalStore` expects it. */
export interface Readable<T> {
  readonly subscribe: (listener: LiveListener<T>) => () => void;
  readonly getSnapshot: () => LiveSnapshot<T>;
}

/** What `watch` calls. All are optional. What they throw is an uncaught error; the rest runs. */
export interface WatchHandlers<T> {
  /**
   * A document is in the result now: inserted, changed to match, or moved up into the `limit`.
   * @param isInitial Whether it was there when the watch began.
   */
  enter?: ((document: T, isInitial: boolean) => void) | undefined;
  /** A document of the result has changed. */
  update?: ((document: T, before: T) => void) | undefined;
  /** A document has left the result. @param document As it was when it was in it. */
  exit?: ((document: T) => void) | undefined;
  /** The watch has ended with an error. Without it the error is uncaught. */
  error?: ((error: Error) => void) | undefined;
}
