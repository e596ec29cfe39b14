import {
  type ComputedRef,
  computed,
  getCurrentInstance,
  type MaybeRefOrGetter,
  onMounted,
  type Ref,
  type ShallowRef,
  shallowRef,
  toRaw,
  toValue,
  watch,
} from 'vue';
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

/** A collection, also out of a reactive object: Vue's proxies hide private fields. */
const rawValue = <C>(collection: MaybeRefOrGetter<C>): C => toRaw(toValue(collection));

/** Criteria, or a ref or getter of params. */
type Query<T extends object, S extends Stamp, P> = GivenParams<T, S, P> | Ref<Params<T, S>>;

/**
 * The documents that match, as they are now.
 *
 * Arguments may be refs or getters, and criteria reactive. When they change, the old documents
 * stay, with `is_stale`, until the new ones are there.
 *
 * @param collection `undefined` or `null` turns the query off.
 * @param params Criteria, or a ref or getter of them. A predicate goes to the option `where`, as a
 *   function is a getter.
 *
 * @example
 * ```ts
 * const text = ref('');
 * const params = () => ({ item: text.value });
 * const { data, status } = useLiveQuery(orders, params, { sort: { price: -1 } });
 * ```
 */
export function useLiveQuery<
  T extends object,
  S extends Stamp,
  P extends Params<T, S>,
  const L extends SelectOption<T, S> = undefined,
  const N extends IncludeOption<S> = undefined,
>(
  collection: MaybeRefOrGetter<Maybe<ShownCollection<T, S>>>,
  params: Query<T, S, P>,
  options?: MaybeRefOrGetter<QueryOptions<T, S, L, N> | undefined>,
): Refs<LiveResult<readonly Found<T, S, L, N>[]>> {
  return useSource(() =>
    querySource(
      'useLiveQuery',
      rawValue(collection),
      toValue(params) as Params<T, S>,
      toValue(options),
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
  collection: MaybeRefOrGetter<Maybe<ShownCollection<T, S>>>,
  id: MaybeRefOrGetter<Maybe<IdOf<T>>>,
  options?: MaybeRefOrGetter<DocumentOptions<N> | undefined>,
): Refs<LiveResult<Found<T, S, undefined, N> | undefined>> {
  return useSource(() =>
    documentSource<T, S, N>('useLiveDocument', rawValue(collection), toValue(id), toValue(options)),
  );
}

/** The number of documents that match; without params, of all. */
export function useLiveCount<T extends object, S extends Stamp, P extends Params<T, S>>(
  collection: MaybeRefOrGetter<Maybe<ShownCollection<T, S>>>,
  params?: Query<T, S, P>,
  options?: MaybeRefOrGetter<CountOptions<T, S> | undefined>,
): Refs<LiveResult<number>> {
  return useSource(() =>
    countSource(rawValue(collection), toValue(params) as Params<T, S>, toValue(options)),
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
  collection: MaybeRefOrGetter<Maybe<ShownCollection<T, S>>>,
  pipeline: MaybeRefOrGetter<P>,
  options?: MaybeRefOrGetter<AggregateQueryOptions<Totals<T, S, P>> | undefined>,
): Refs<LiveResult<readonly Totals<T, S, P>[]>> {
  return useSource(() =>
    aggregateSource(rawValue(collection), toValue(pipeline), toValue(options)),
  );
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
  collection: MaybeRefOrGetter<Maybe<ShownCollection<T, S>>>,
  text: MaybeRefOrGetter<Maybe<string>>,
  options?: MaybeRefOrGetter<SearchQueryOptions<T, S, L> | undefined>,
): Refs<LiveResult<readonly SearchHit<Found<T, S, L>>[]>> {
  return useSource(() => searchSource(rawValue(collection), toValue(text), toValue(options)));
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
  collection: MaybeRefOrGetter<Maybe<KeyValueCollection<V>>>,
  key: MaybeRefOrGetter<Maybe<Key>>,
): Refs<LiveResult<V | undefined>> {
  return useSource(() => valueSource<V>(rawValue(collection), toValue(key)));
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
  collection: MaybeRefOrGetter<Maybe<ShownCollection<T, S>>>,
  params: Query<T, S, P>,
  options?: MaybeRefOrGetter<PagesOptions<T, S, L, N> | undefined>,
): Refs<LivePages<Found<T, S, L, N>>> {
  return useSource(() =>
    pagesSource(rawValue(collection), toValue(params) as Params<T, S>, toValue(options)),
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
  collection: MaybeRefOrGetter<Maybe<ShownCollection<T, S>>>,
  id: MaybeRefOrGetter<Maybe<IdOf<T>>>,
): Refs<DraftResult<T, S>> {
  return useSource(() => draftSource(rawValue(collection), toValue(id)));
}

/** The status of a database: where its engine runs, what is unsaved, the last error. */
export function useDatabaseStatus(db: DatabaseClient): Readonly<ShallowRef<ClientStatus>> {
  return useSourceRef(() => statusSource(db));
}

/** The fields of a result as refs; its methods. */
export type Refs<R, Name extends keyof R = keyof R> = {
  readonly [Each in Name]: R[Each] extends (...args: never) => unknown
    ? R[Each]
    : ComputedRef<R[Each]>;
};

/** The state of a source as a ref, until the scope ends. */
function useSourceRef<R extends object>(make: () => Source<R>): Readonly<ShallowRef<R>> {
  // The element of a component that Vue hydrates comes from the server.
  let isHydrating = Boolean(getCurrentInstance()?.vnode.el);
  let shown: Shown | undefined;
  const source = computed<Source<R>>((before) => keep(before, make()));
  const changed = shallowRef();
  const show = () => {
    changed.value = {};
  };
  // Computed, so that what is read or called in the tick of a change belongs to the new arguments.
  const state = computed(() => {
    void changed.value;
    const from = source.value;
    const result = isHydrating ? from.start : from.view();
    const filled = withData(result, from, shown);
    shown = noteShown(from, result, shown);
    return filled;
  });
  watch(
    source,
    (from, _, onCleanup) => {
      // On a server nothing starts.
      if (typeof window !== 'undefined') onCleanup(from.subscribe(show));
      show();
    },
    { immediate: true },
  );
  if (isHydrating) {
    onMounted(() => {
      isHydrating = false;
      show();
    });
  }
  return state;
}

function useSource<R extends object>(make: () => Source<R>): Refs<R> {
  const state = useSourceRef(make);
  const current = () => state.value;
  return eachField(current(), current, (name) =>
    computed(() => current()[name as keyof R]),
  ) as Refs<R>;
}
