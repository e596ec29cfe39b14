import type { LiveAggregateOptions } from '../../api/aggregate-types.ts';
import type { Found, SelectOption, Stamp, Stored } from '../../api/document-types.ts';
import type { LiveCountOptions, LiveOptions } from '../../api/live-options.ts';
import type { IncludeOption } from '../../api/relation-types.ts';
import type { LiveSearchOptions, SearchHit } from '../../api/search-types.ts';
import type { DocumentCollection } from '../../page/collections/document-collection.ts';
import type { Criteria } from '../../query/criteria/criteria-types.ts';

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
  /**
   * Whether `data` is an earlier result: of other criteria, from before an error or before the
   * component was hidden.
   */
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

export interface Shown {
  readonly source: Source<unknown>;
  readonly data: unknown;
}

/** Fills the results of one component: what it has shown stays until there is something new. */
export function staying<R extends object>(): (result: R, source: Source<R>) => R {
  let shown: Shown | undefined;
  return (result, source) => {
    const filled = withData(result, source, shown);
    shown = noteShown(source, result, shown);
    return filled;
  };
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

/**
 * Makes an object with the fields of a result, each by `show`. Its methods call those of the
 * current result.
 *
 * @param start Has the names of all fields.
 */
export function eachField(
  start: object,
  current: () => object,
  show: (name: string) => unknown,
): object {
  const fields = Object.entries(start).map(([name, value]) => {
    if (typeof value !== 'function') return [name, show(name)];
    const call = (...args: unknown[]) =>
      (current() as Record<string, (...given: unknown[]) => unknown>)[name]?.(...args);
    return [name, call];
  });
  return Object.fromEntries(fields) as object;
}

/** A value, or its absence, with which a hook is off. */
export type Maybe<T> = T | null | undefined;

/** A collection that hooks read, whatever a schema lets in: `never` stands for each. */
export type ShownCollection<T extends object, S extends Stamp> = DocumentCollection<T, S, never>;

/** A collection's type arguments, where the caller names the type of the result alone. */
// biome-ignore lint/suspicious/noExplicitAny: a collection of any document
export type Unnamed = any;

/** Criteria, or a function that returns params. `P` is the type of its result. */
export type GivenParams<T extends object, S extends Stamp, P> =
  | NoFunction<Criteria<Stored<T, S>>>
  | (() => P & NoOtherFields<P, Criteria<Stored<T, S>>>);

/** Refuses functions, which TypeScript takes for criteria. */
type NoFunction<C> = C & { readonly [Symbol.hasInstance]?: never };

/** Refuses unknown fields, which TypeScript allows in what a function returns. */
type NoOtherFields<P, C> = P extends (...args: never) => unknown
  ? P
  : { readonly [Field in Exclude<keyof P, keyof C>]: never };

/** What the hooks of queries take besides the options of a live query. */
interface HookOptions<Data> {
  /**
   * The result until the first of the database: from a loader, for rendering on a server and
   * hydrating that page. Counts until the component has shown a result.
   */
  initial?: Data | undefined;
  /**
   * A scope of the collection's `replicate()` that is here while the component shows the query,
   * such as `{ project: 'p1' }`. Components with the same scope share it.
   */
  sync?: Readonly<Record<string, string | number | boolean>> | undefined;
  /**
   * What the functions of the query close over. Needed only for functions that are written inline:
   * they count as the same as long as their text and this value are the same.
   */
  key?: unknown;
}

/** Options of `useLiveQuery`: those of `live`, and `initial` and `key`. */
export type QueryOptions<
  T extends object,
  S extends Stamp = never,
  L extends SelectOption<T, S> = undefined,
  N extends IncludeOption<S> = undefined,
> = LiveOptions<T, S, L, N> & HookOptions<readonly Found<T, S, L, N>[]>;

/** Options of `useLiveDocument`. */
export interface DocumentOptions<N> {
  /** Documents of other collections that belong to it. */
  include?: N;
}

/** Options of `useLiveCount`. */
export type CountOptions<T extends object, S extends Stamp = never> = LiveCountOptions<T, S> &
  HookOptions<number>;

/** Options of `useLiveAggregate`. */
export type AggregateQueryOptions<D> = LiveAggregateOptions & HookOptions<readonly D[]>;

/** Options of `useLiveSearch`: those of `liveSearch`, and `initial` and `key`. */
export type SearchQueryOptions<
  T extends object,
  S extends Stamp = never,
  L extends SelectOption<T, S> = undefined,
> = LiveSearchOptions<T, S, L> & HookOptions<readonly SearchHit<Found<T, S, L>>[]>;

/**
 * Options of `useLivePages`: those of `useLiveQuery` without `skip` and `limit`, and the size of a
 * page.
 */
export type PagesOptions<
  T extends object,
  S extends Stamp = never,
  L extends SelectOption<T, S> = undefined,
  N extends IncludeOption<S> = undefined,
> = Omit<QueryOptions<T, S, L, N>, 'skip' | 'limit'> & {
  /** Number of documents that are shown at first, and that `loadMore` adds, from 1. @default 50 */
  page_size?: number | undefined;
};
