import { untrack } from 'svelte';
import { createSubscriber } from 'svelte/reactivity';
import { fromStore, type Readable, toStore } from 'svelte/store';
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

/** A value, or a function that reads it from state. */
type Given<V> = V | (() => V);

type Getter<V> = () => V;

const read = <V>(given: Given<V>): V =>
  typeof given === 'function' ? (given as Getter<V>)() : given;

/**
 * The documents that match, as they are now.
 *
 * Arguments may be functions that read state. The result has getters: do not destructure it. When
 * they change, the old documents stay, with `is_stale`, until the new ones are there.
 *
 * @param collection `undefined` or `null` turns the query off.
 * @param params Criteria, or a function that returns them. A predicate goes to the option `where`,
 *   as a function is a getter.
 *
 * @example
 * ```ts
 * let text = $state('');
 * const open = useLiveQuery(orders, () => ({ item: text }), { sort: { price: -1 } });
 * // {#each open.data ?? [] as order (order._id)} … {/each}
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
): Current<LiveResult<readonly Found<T, S, L, N>[]>> {
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
 * const order = useLiveDocument(orders, () => id);
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
): Current<LiveResult<Found<T, S, undefined, N> | undefined>> {
  return useSource(() =>
    documentSource<T, S, N>('useLiveDocument', read(collection), read(id), read(options)),
  );
}

/** The number of documents that match; without params, of all. */
export function useLiveCount<T extends object, S extends Stamp, P extends Params<T, S>>(
  collection: Given<Maybe<ShownCollection<T, S>>>,
  params?: GivenParams<T, S, P>,
  options?: Given<CountOptions<T, S> | undefined>,
): Current<LiveResult<number>> {
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
): Current<LiveResult<readonly Totals<T, S, P>[]>> {
  return useSource(() => aggregateSource(read(collection), read(pipeline), read(options)));
}

/**
 * The hits of a text index, best first, as somebody types. Without a text it is off.
 *
 * @example
 * ```ts
 * const { data } = useLiveSearch(articles, () => typed, { highlight: true });
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
): Current<LiveResult<readonly SearchHit<Found<T, S, L>>[]>> {
  return useSource(() => searchSource(read(collection), read(text), read(options)));
}

/**
 * The value at a key; `data` is `undefined` while there is none.
 *
 * @example
 * ```ts
 * const isDark = useLiveValue<boolean>(settings, 'theme.dark');
 * ```
 */
export function useLiveValue<V>(
  collection: Given<Maybe<KeyValueCollection<V>>>,
  key: Given<Maybe<Key>>,
): Current<LiveResult<V | undefined>> {
  return useSource(() => valueSource<V>(read(collection), read(key)));
}

/**
 * A list that grows by pages: the documents before stay, and stay the same objects. It begins anew
 * when its criteria change.
 *
 * @example
 * ```ts
 * const list = useLivePages(orders, {}, { sort: { price: -1 }, page_size: 50 });
 * // {#if list.has_more}<button onclick={list.loadMore}>More</button>{/if}
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
): Current<LivePages<Found<T, S, L, N>>> {
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
 * const form = useDraft(users, () => id);
 * // <input bind:value={() => form.draft?.name, (name) => form.set({ name })} />
 * ```
 */
export function useDraft<T extends object, S extends Stamp>(
  collection: Given<Maybe<ShownCollection<T, S>>>,
  id: Given<Maybe<IdOf<T>>>,
): Current<DraftResult<T, S>> {
  return useSource(() => draftSource(read(collection), read(id)));
}

/** The status of a database: where its engine runs, what is unsaved, the last error. */
export function useDatabaseStatus(db: DatabaseClient): { readonly current: ClientStatus } {
  return useCurrent(() => statusSource(db));
}

/** The fields of a result, and the result as a whole, which TypeScript narrows by `status`. */
export type Current<R, Name extends keyof R = keyof R> = { readonly current: R } & {
  readonly [Each in Name]: R[Each];
};

/** The state of a source. It is followed while an effect or a template reads it. */
function useCurrent<R extends object>(make: () => Source<R>): { readonly current: R } {
  let shown: Shown | undefined;
  const subscribers = new WeakMap<Source<R>, () => void>();
  const source = useNewest(make);
  return {
    get current() {
      const from = source.current;
      const follow = subscribers.get(from) ?? createSubscriber(from.subscribe);
      subscribers.set(from, follow);
      follow();
      const result = from.view();
      const filled = withData(result, from, shown);
      shown = noteShown(from, result, shown);
      return filled;
    },
  };
}

function useNewest<R extends object>(make: () => Source<R>): { readonly current: Source<R> } {
  let newest: Source<R> | undefined;
  let isFollowed = false;
  // What the arguments read is tracked once, not by each reader: a function written inline would be
  // new each time.
  const tracked = toStore(() => {
    newest = keep(newest, make());
    return newest;
  });
  const subscribe: Readable<Source<R>>['subscribe'] = (take) => {
    if (isFollowed) {
      // An event handler reads. What has changed in the same tick reaches effects and templates
      // after it.
      const [fresh, again] = [make(), make()];
      if (keep(fresh, again) === fresh) newest = keep(newest, fresh);
      take(newest as Source<R>);
      return () => undefined;
    }
    isFollowed = true;
    const leave = tracked.subscribe(take);
    return () => {
      isFollowed = false;
      leave();
    };
  };
  return fromStore({ subscribe });
}

function useSource<R extends object>(make: () => Source<R>): Current<R> {
  const state = useCurrent(make);
  for (const [name, value] of Object.entries(make().start)) {
    // Untracked: an effect that calls one need not run again, and calls that of the arguments as
    // they are.
    const call = (...args: unknown[]) =>
      (untrack(() => state.current)[name as keyof R] as (...given: unknown[]) => unknown)(...args);
    if (typeof value === 'function') Object.assign(state, { [name]: call });
    else
      Object.defineProperty(state, name, {
        get: () => state.current[name as keyof R],
        enumerable: true,
      });
  }
  return state as Current<R>;
}
