// For React's server components: hooks run in client components.
'use client';

import { useCallback, useEffect, useMemo, useRef, useSyncExternalStore } from 'react';
import type { PipelineStage } from '../../api/aggregate-types.ts';
import type { Found, IdOf, Params, SelectOption, Stamp } from '../../api/document-types.ts';
import type { ClientStatus } from '../../api/events.ts';
import type { IncludeOption } from '../../api/relation-types.ts';
import type { SearchHit } from '../../api/search-types.ts';
import { OptionError } from '../../errors/errors.ts';
import type { DatabaseClient } from '../../page/client/database-client.ts';
import type { KeyValueCollection } from '../../page/collections/key-value-collection.ts';
import type { Key } from '../../protocol/key-value-protocol.ts';
import type { DraftResult } from '../core/draft.ts';
import {
  type AggregateQueryOptions,
  type CountOptions,
  type DocumentOptions,
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
  type Unnamed,
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
import { loadSubscribedCode, subscribedCode } from '../core/subscribed-code.ts';

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

/** So many results in a row, each with another query in the same render, are an endless loop. */
const MOST_CHANGES = 20;

/**
 * The documents that match, as they are now: the component renders again when the result changes.
 *
 * Criteria and options may be written inline, as equal ones are the same query. When they change,
 * the old documents stay, with `is_stale`, until the new ones are there.
 *
 * @param collection `undefined` or `null` turns the query off.
 *
 * @example
 * ```tsx
 * const options = { sort: { price: -1 }, limit: 20 };
 * const { data = [], status } = useLiveQuery(orders, { done: false }, options);
 * ```
 */
export function useLiveQuery<
  T extends object,
  S extends Stamp,
  const L extends SelectOption<T, S> = undefined,
  const N extends IncludeOption<S> = undefined,
>(
  collection: Maybe<ShownCollection<T, S>>,
  params: Params<T, S>,
  options?: QueryOptions<T, S, L, N>,
): LiveResult<readonly Found<T, S, L, N>[]> {
  return useSource(querySource('useLiveQuery', collection, params, options));
}

/**
 * Like {@link useLiveQuery}, within `<Suspense>`: the component waits for its first documents, so
 * `data` is there. Errors go to the nearest error boundary; what is rendered after it is reset
 * tries again.
 *
 * @example
 * ```tsx
 * const { data } = useLiveSuspenseQuery(orders, { done: false });
 * ```
 */
export function useLiveSuspenseQuery<
  T extends object,
  S extends Stamp,
  const L extends SelectOption<T, S> = undefined,
  const N extends IncludeOption<S> = undefined,
>(
  collection: ShownCollection<T, S>,
  params: Params<T, S>,
  options?: QueryOptions<T, S, L, N>,
): LiveResult<readonly Found<T, S, L, N>[]> & { readonly data: readonly Found<T, S, L, N>[] } {
  const hook = 'useLiveSuspenseQuery';
  if (!collection)
    throw new OptionError('option_invalid', `${hook}() needs a collection.`, { place: hook });
  const source = querySource(hook, collection, params, options);
  const result = useSource(
    source,
    // Without `initial` a server renders the fallback, so there is nothing to hydrate.
    ({ initial, start, view }) => (initial ? start : view()),
  );
  const code = subscribedCode();
  if (result.status !== 'pending') code?.noteRead(source);
  if (result.status === 'error') {
    source.forget?.();
    throw result.error;
  }
  if (!result.data) {
    if (typeof window !== 'undefined') throw code ? code.settled(source) : loadSubscribedCode();
    throw new OptionError(
      'option_missing',
      `${hook}() needs \`initial\` on a server; the browser will render this.`,
      { place: 'initial' },
    );
  }
  return result as typeof result & { readonly data: readonly Found<T, S, L, N>[] };
}

/**
 * The document with this id, archived or not; `data` is `undefined` while there is none.
 *
 * @example
 * ```tsx
 * const { data: order } = useLiveDocument(orders, id);
 * ```
 */
export function useLiveDocument<
  T extends object,
  S extends Stamp,
  const N extends IncludeOption<S> = undefined,
>(
  collection: Maybe<ShownCollection<T, S>>,
  id: Maybe<IdOf<T>>,
  options?: DocumentOptions<N>,
): LiveResult<Found<T, S, undefined, N> | undefined> {
  return useSource(documentSource<T, S, N>('useLiveDocument', collection, id, options));
}

/** The number of documents that match; without params, of all. */
export function useLiveCount<T extends object, S extends Stamp>(
  collection: Maybe<ShownCollection<T, S>>,
  params?: Params<T, S>,
  options?: CountOptions<T, S>,
): LiveResult<number> {
  return useSource(countSource('useLiveCount', collection, params, options));
}

/**
 * What a pipeline makes of the documents, kept up to date. Where the stages do not tell the type
 * of its rows, name it: `useLiveAggregate<Row>(…)`.
 *
 * @example
 * ```tsx
 * const { data } = useLiveAggregate(orders, [
 *   { $group: { _id: '$status', total: { $sum: '$amount' } } },
 * ]);
 * ```
 */
export function useLiveAggregate<
  R extends object | undefined = undefined,
  T extends object = Unnamed,
  S extends Stamp = Unnamed,
  const P extends readonly PipelineStage[] = readonly PipelineStage[],
>(
  collection: Maybe<ShownCollection<T, S>>,
  pipeline: P,
  options?: AggregateQueryOptions<Totals<T, S, P, R>>,
): LiveResult<readonly Totals<T, S, P, R>[]> {
  return useSource(aggregateSource('useLiveAggregate', collection, pipeline, options));
}

/**
 * The hits of a text index, best first, as somebody types. Without a text it is off.
 *
 * @example
 * ```tsx
 * const { data } = useLiveSearch(articles, typed, { highlight: true });
 * ```
 */
export function useLiveSearch<
  T extends object,
  S extends Stamp,
  const L extends SelectOption<T, S> = undefined,
>(
  collection: Maybe<ShownCollection<T, S>>,
  text: Maybe<string>,
  options?: SearchQueryOptions<T, S, L>,
): LiveResult<readonly SearchHit<Found<T, S, L>>[]> {
  return useSource(searchSource('useLiveSearch', collection, text, options));
}

/**
 * The value at a key; `data` is `undefined` while there is none.
 *
 * @example
 * ```tsx
 * const { data: isDark = false } = useLiveValue<boolean>(settings, 'theme.dark');
 * ```
 */
export function useLiveValue<V>(
  collection: Maybe<KeyValueCollection<V>>,
  key: Maybe<Key>,
): LiveResult<V | undefined> {
  return useSource(valueSource<V>('useLiveValue', collection, key));
}

/**
 * A list that grows by pages: the documents before stay, and stay the same objects. It begins anew
 * when its criteria change.
 *
 * @example
 * ```tsx
 * const options = { sort: { price: -1 }, page_size: 50 };
 * const { data = [], has_more, loadMore } = useLivePages(orders, {}, options);
 * ```
 */
export function useLivePages<
  T extends object,
  S extends Stamp,
  const L extends SelectOption<T, S> = undefined,
  const N extends IncludeOption<S> = undefined,
>(
  collection: Maybe<ShownCollection<T, S>>,
  params: Params<T, S>,
  options?: PagesOptions<T, S, L, N>,
): LivePages<Found<T, S, L, N>> {
  return useSource(pagesSource('useLivePages', collection, params, options));
}

/**
 * A document in a form: what the user changes stays until it is saved, all other fields follow the
 * live document.
 *
 * @example
 * ```tsx
 * const { draft, set, save, is_dirty } = useDraft(users, id);
 * ```
 */
export function useDraft<T extends object, S extends Stamp>(
  collection: Maybe<ShownCollection<T, S>>,
  id: Maybe<IdOf<T>>,
): DraftResult<T, S> {
  return useSource(draftSource('useDraft', collection, id));
}

/** The status of a database: where its engine runs, what is unsaved, the last error. */
export function useDatabaseStatus(db: DatabaseClient): ClientStatus {
  return useSource(statusSource('useDatabaseStatus', db));
}

/**
 * Reads a source; of equal ones, that of the first render.
 *
 * @param serverView What a server renders, and the browser while it hydrates that.
 */
function useSource<R extends object>(
  fresh: Source<R>,
  serverView: (source: Source<R>) => R = ({ start }) => start,
): R {
  const last = useRef({
    source: fresh,
    changes: 0,
    isTold: false,
    shown: undefined as Shown | undefined,
  });
  // Not useMemo, which fast refresh resets: what is typed in a draft would be lost.
  const source = keep(last.current.source, fresh);
  const subscribe = useCallback(
    (listener: () => void) =>
      source.subscribe(() => {
        last.current.isTold = true;
        listener();
      }),
    [source],
  );
  const result = useSyncExternalStore(subscribe, source.view, () => serverView(source));
  // Written after the commit: a render may be repeated, or thrown away.
  useEffect(() => {
    const { source: before, shown, isTold, changes } = last.current;
    last.current = {
      source,
      changes: source === before ? 0 : changes + +isTold,
      isTold: false,
      shown: noteShown(source, result, shown),
    };
    const code = subscribedCode();
    if (code && changes > MOST_CHANGES) throw code.otherQuery();
  }, [source, result]);
  return useMemo(() => withData(result, source, last.current.shown), [source, result]);
}
