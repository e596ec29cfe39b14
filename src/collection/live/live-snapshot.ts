/** What a live query knows at a moment. Never changes: each change makes a new one. */
export type LiveSnapshot<T> =
  /** Nothing is known yet, or not again: after an error, or since nobody read. `data` is the last that was known. */
  | { readonly status: 'pending'; readonly data: T | undefined; readonly error: undefined }
  | { readonly status: 'ready'; readonly data: T; readonly error: undefined }
  /** It has ended; `data` is the last that was known. */
  | { readonly status: 'error'; readonly data: T | undefined; readonly error: Error };

/** Is told of a new snapshot. */
export type LiveListener<T> = (snapshot: LiveSnapshot<T>) => void;

/** What can be read, as React's `useSyncExternalStore` takes it. */
export interface Readable<T> {
  readonly subscribe: (listener: LiveListener<T>) => () => void;
  readonly getSnapshot: () => LiveSnapshot<T>;
}
