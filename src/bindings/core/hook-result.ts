/** The state of a live query in a component. Each change makes a new object. */
export type LiveResult<T> =
  /** The collection, the id or the key is `undefined` or `null`. */
  | Result<'off', undefined, undefined, false>
  /** No result yet. `data` is that of the query before, and `is_stale`, if there was one. */
  | Result<'pending', T | undefined, undefined, boolean>
  | Result<'ready', T, undefined, false>
  /** The query has ended. `data` is the last result. */
  | Result<'error', T | undefined, Error, boolean>;

interface Result<Status extends string, Data, Failure, Stale extends boolean> {
  readonly data: Data;
  readonly status: Status;
  readonly error: Failure;
  /** Whether `data` is an earlier result: of other criteria, from before an error or before the component was hidden. */
  readonly is_stale: Stale;
}

/** A growing list: {@link LiveResult}, with its end. */
export type LivePages<D> = LiveResult<readonly D[]> & {
  /** Whether there are documents beyond `data`. */
  readonly has_more: boolean;
  /** Adds a page. Does nothing unless the list is `ready` and there is more. */
  readonly loadMore: () => void;
};

/** A state outside of the framework that changes by itself. */
export interface Source<R> {
  /** Its identity, together with `key`. */
  readonly collection: unknown;
  readonly key: string;
  /** Whether it may show the data of another source of the same collection until it has its own. */
  readonly is_list?: boolean | undefined;
  /** The data until the first of the database. */
  readonly initial?: unknown;
  /** The state on a server, and while a page from a server is hydrated. */
  readonly start: R;
  readonly subscribe: (listener: () => void) => () => void;
  /** The current state: the same object until it changes. */
  readonly view: () => R;
  /** After an error: the next component that asks starts anew. */
  readonly forget?: (() => void) | undefined;
}

/** What a source is once its code is there. */
export type Running<R> = Pick<Source<R>, 'key' | 'subscribe' | 'view' | 'forget'>;

export const isNone = (value: unknown) => value === undefined || value === null;

export const OFF = { data: undefined, status: 'off', error: undefined, is_stale: false } as const;
export const PENDING = { ...OFF, status: 'pending' } as const;

/** Of two sources with one identity the first. */
export function keep<S extends Source<unknown>>(before: S | undefined, fresh: S): S {
  return before && before.collection === fresh.collection && before.key === fresh.key
    ? before
    : fresh;
}

/** What a component has shown last. */
export interface Shown {
  readonly source: Source<unknown>;
  readonly data: unknown;
}

/** Notes what a component shows. */
export const noteShown = (source: Source<unknown>, result: object, before?: Shown) => {
  const { data } = result as LiveResult<unknown>;
  return data === undefined ? before : { source, data };
};

/** Fills a result without data: with what was shown before, or with the data of a loader. */
export function withData<R extends object>(result: R, source: Source<R>, shown?: Shown): R {
  const { data, status } = result as LiveResult<unknown>;
  const { initial, is_list, collection } = source;
  const isPending = status === 'pending';
  if (data !== undefined || !(isPending || status === 'error')) return result;
  if (shown && is_list && shown.source.collection === collection)
    return { ...result, data: shown.data, is_stale: true };
  return isPending && initial !== undefined
    ? { ...result, data: initial, status: 'ready' }
    : result;
}
