import {
  type Accessor,
  createEffect,
  createMemo,
  createSignal,
  onCleanup,
  sharedConfig,
} from 'solid-js';
import type { PipelineStage } from '../../api/aggregate-types.ts';
import type { Found, IdOf, Params, SelectOption, Stamp } from '../../api/document-types.ts';
import type { ClientStatus } from '../../api/events.ts';
import type { IncludeOption } from '../../api/relation-types.ts';
import type { SearchHit } from '../../api/search-types.ts';
import type { DatabaseClient } from '../../page/client/database-client.ts';
import type { KeyValueCollection } from '../../page/collections/key-value-collection.ts';
import type { Key } from '../../protocol/key-value-protocol.ts';
import type { DraftResult } from '../core/draft.ts';
import {
  type AggregateQueryOptions,
  type CountOptions,
  type DocumentOptions,
  eachField,
  type GivenParams,
  keep,
  type LivePages,
  type LiveResult,
  type Maybe,
  noteShown,
  type PagesOptions,
  type QueryOptions,
  type SearchQueryOptions,
  type Shown,
  type ShownCollection,
  type Source,
  withData,
} from '../core/hook-result.ts';
import {
  aggregateSource,
  countSource,
  documentSource,
  draftSource,
  pagesSource,
  querySource,
  searchSource,
  statusSource,
  type Totals,
  valueSource,
} from '../core/sources.ts';

export type { DraftResult } from '../core/draft.ts';
export type {
  AggregateQueryOptions,
  CountOptions,
  LivePages,
  LiveResult,
  PagesOptions,
  QueryOptions,
  SearchQueryOptions,
} from '../core/hook-result.ts';

/** A value, or an accessor of it. */
type Given<V> = V | Accessor<V>;

const read = <V>(given: Given<V>): V =>
  typeof given === 'function' ? (given as Accessor<V>)() : given;

/**
 * The documents that match, as they are now.
 *
 * Arguments may be accessors. When they change, the old documents stay, with `is_stale`, until the
 * new ones are there.
 *
 * @param collection `undefined` or `null` turns the query off.
 * @param params Criteria, or an accessor of them. A predicate goes to the option `where`, as a
 *   function is a getter.
 *
 * @example
 * ```ts
 * const [text, setText] = createSignal('');
 * const { data, status } = useLiveQuery(orders, () => ({ item: text() }), { sort: { price: -1 } });
 * ```
 */
export function useLiveQuery<
  T extends object,
  S extends Stamp,
  P extends Params<T, S>,
  const L extends SelectOption<T, S> = undefined,
  const N extends IncludeOption<S> = undefined,
>(
  collection: Given<Maybe<ShownCollection<T, S>>>,
  params: GivenParams<T, S, P>,
  options?: Given<QueryOptions<T, S, L, N> | undefined>,
): Accessors<LiveResult<readonly Found<T, S, L, N>[]>> {
  return useSource(() =>
    querySource(
      'useLiveQuery',
      read(collection),
      read(params as Given<Params<T, S>>),
      read(options),
    ),
  );
}

/**
 * The document with this id, archived or not; `data` is `undefined` while there is none.
 *
 * @example
 * ```ts
 * const { data: order } = useLiveDocument(orders, () => props.id);
 * ```
 */
export function useLiveDocument<
  T extends object,
  S extends Stamp,
  const N extends IncludeOption<S> = undefined,
>(
  collection: Given<Maybe<ShownCollection<T, S>>>,
  id: Given<Maybe<IdOf<T>>>,
  options?: Given<DocumentOptions<N> | undefined>,
): Accessors<LiveResult<Found<T, S, undefined, N> | undefined>> {
  return useSource(() =>
    documentSource<T, S, N>('useLiveDocument', read(collection), read(id), read(options)),
  );
}

/** The number of documents that match; without params, of all. */
export function useLiveCount<T extends object, S extends Stamp, P extends Params<T, S>>(
  collection: Given<Maybe<ShownCollection<T, S>>>,
  params?: GivenParams<T, S, P>,
  options?: Given<CountOptions<T, S> | undefined>,
): Accessors<LiveResult<number>> {
  return useSource(() =>
    countSource(read(collection), read(params as Given<Params<T, S>>), read(options)),
  );
}

/**
 * What a pipeline makes of the documents, kept up to date.
 *
 * @example
 * ```ts
 * const { data } = useLiveAggregate(orders, [
 *   { $group: { _id: '$status', total: { $sum: '$amount' } } },
 * ]);
 * ```
 */
export function useLiveAggregate<
  T extends object,
  S extends Stamp,
  const P extends readonly PipelineStage[],
>(
  collection: Given<Maybe<ShownCollection<T, S>>>,
  pipeline: Given<P>,
  options?: Given<AggregateQueryOptions<Totals<T, S, P>> | undefined>,
): Accessors<LiveResult<readonly Totals<T, S, P>[]>> {
  return useSource(() => aggregateSource(read(collection), read(pipeline), read(options)));
}

/**
 * The hits of a text index, best first, as somebody types. Without a text it is off.
 *
 * @example
 * ```ts
 * const { data } = useLiveSearch(articles, typed, { highlight: true });
 * ```
 */
export function useLiveSearch<
  T extends object,
  S extends Stamp,
  const L extends SelectOption<T, S> = undefined,
>(
  collection: Given<Maybe<ShownCollection<T, S>>>,
  text: Given<Maybe<string>>,
  options?: Given<SearchQueryOptions<T, S, L> | undefined>,
): Accessors<LiveResult<readonly SearchHit<Found<T, S, L>>[]>> {
  return useSource(() => searchSource(read(collection), read(text), read(options)));
}

/**
 * The value at a key; `data` is `undefined` while there is none.
 *
 * @example
 * ```ts
 * const { data: isDark } = useLiveValue<boolean>(settings, 'theme.dark');
 * ```
 */
export function useLiveValue<V>(
  collection: Given<Maybe<KeyValueCollection<V>>>,
  key: Given<Maybe<Key>>,
): Accessors<LiveResult<V | undefined>> {
  return useSource(() => valueSource<V>(read(collection), read(key)));
}

/**
 * A list that grows by pages: the documents before stay, and stay the same objects. It begins anew
 * when its criteria change.
 *
 * @example
 * ```ts
 * const options = { sort: { price: -1 }, page_size: 50 };
 * const { data, has_more, loadMore } = useLivePages(orders, {}, options);
 * ```
 */
export function useLivePages<
  T extends object,
  S extends Stamp,
  P extends Params<T, S>,
  const L extends SelectOption<T, S> = undefined,
  const N extends IncludeOption<S> = undefined,
>(
  collection: Given<Maybe<ShownCollection<T, S>>>,
  params: GivenParams<T, S, P>,
  options?: Given<PagesOptions<T, S, L, N> | undefined>,
): Accessors<LivePages<Found<T, S, L, N>>> {
  return useSource(() =>
    pagesSource(read(collection), read(params as Given<Params<T, S>>), read(options)),
  );
}

/**
 * A document in a form: what the user changes stays until it is saved, all other fields follow the
 * live document.
 *
 * @example
 * ```ts
 * const { draft, set, save, is_dirty } = useDraft(users, () => props.id);
 * ```
 */
export function useDraft<T extends object, S extends Stamp>(
  collection: Given<Maybe<ShownCollection<T, S>>>,
  id: Given<Maybe<IdOf<T>>>,
): Accessors<DraftResult<T, S>> {
  return useSource(() => draftSource(read(collection), read(id)));
}

/** The status of a database: where its engine runs, what is unsaved, the last error. */
export function useDatabaseStatus(db: DatabaseClient): Accessor<ClientStatus> {
  return useSourceAccessor(() => statusSource(db));
}

/** The fields of a result as accessors; its methods. */
export type Accessors<R, Name extends keyof R = keyof R> = {
  readonly [Each in Name]: R[Each] extends (...args: never) => unknown
    ? R[Each]
    : Accessor<R[Each]>;
};

/** The state of a source as an accessor, until its owner is disposed. */
function useSourceAccessor<R extends object>(make: () => Source<R>): Accessor<R> {
  let isHydrating = Boolean(sharedConfig.context);
  let shown: Shown | undefined;
  const [changed, change] = createSignal(undefined, { equals: false });
  const source = createMemo<Source<R>>((before) => keep(before, make()));
  const result = createMemo(() => {
    changed();
    return isHydrating ? source().start : source().view();
  });
  // Effects do not run on a server.
  createEffect(() => {
    onCleanup(source().subscribe(change));
    isHydrating = false;
    change();
  });
  return createMemo(() => {
    const now = withData(result(), source(), shown);
    shown = noteShown(source(), result(), shown);
    return now;
  });
}

function useSource<R extends object>(make: () => Source<R>): Accessors<R> {
  const state = useSourceAccessor(make);
  return eachField(state(), state, (name) =>
    createMemo(() => state()[name as keyof R]),
  ) as Accessors<R>;
}
