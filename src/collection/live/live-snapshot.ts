/** The state of a live query at one moment. Frozen: each change makes a new one. */
export type LiveSnapshot<T> =
  /** No current result: at the start, after an error, or without readers. `data` is the last result. */
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
