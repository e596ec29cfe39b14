import {
  afterNextRender,
  computed,
  effect,
  InjectionToken,
  inject,
  PLATFORM_ID,
  type Signal,
  signal,
  untracked,
} from '@angular/core';
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
  OFF,
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
  OFF_PAGES,
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

/** A value, or a signal or function that reads it. */
type Given<V> = V | (() => V);

const read = <V>(given: Given<V>): V =>
  typeof given === 'function' ? (given as () => V)() : given;

/**
 * The documents that match, as they are now.
 *
 * Call it in an injection context, such as the fields of a component; the query ends with that
 * component or service. Arguments may be signals, inputs too, or functions that read signals. When
 * they change, the old documents stay, with `is_stale`, until the new ones are there.
 *
 * @param collection `undefined` or `null` turns the query off.
 * @param params Criteria, or a signal or function of them. A predicate goes to the option `where`,
 *   as a function is a getter.
 *
 * @example
 * ```ts
 * readonly text = signal('');
 * readonly open = injectLiveQuery(orders, () => ({ item: this.text() }), { sort: { price: -1 } });
 * // @for (order of open.data(); track order._id) { … }
 * ```
 */
export function injectLiveQuery<
  T extends object,
  S extends Stamp,
  P extends Params<T, S>,
  const L extends SelectOption<T, S> = undefined,
  const N extends IncludeOption<S> = undefined,
>(
  collection: Given<Maybe<ShownCollection<T, S>>>,
  params: GivenParams<T, S, P>,
  options?: Given<QueryOptions<T, S, L, N> | undefined>,
): Signals<LiveResult<readonly Found<T, S, L, N>[]>> {
  return injectSource(() =>
    querySource(
      'injectLiveQuery',
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
 * readonly id = input.required<string>();
 * readonly order = injectLiveDocument(orders, this.id);
 * ```
 */
export function injectLiveDocument<
  T extends object,
  S extends Stamp,
  const N extends IncludeOption<S> = undefined,
>(
  collection: Given<Maybe<ShownCollection<T, S>>>,
  id: Given<Maybe<IdOf<T>>>,
  options?: Given<DocumentOptions<N> | undefined>,
): Signals<LiveResult<Found<T, S, undefined, N> | undefined>> {
  return injectSource(() =>
    documentSource<T, S, N>('injectLiveDocument', read(collection), read(id), read(options)),
  );
}

/** The number of documents that match; without params, of all. */
export function injectLiveCount<T extends object, S extends Stamp, P extends Params<T, S>>(
  collection: Given<Maybe<ShownCollection<T, S>>>,
  params?: GivenParams<T, S, P>,
  options?: Given<CountOptions<T, S> | undefined>,
): Signals<LiveResult<number>> {
  return injectSource(() =>
    countSource(
      read(collection),
      read(params as Given<Params<T, S>>),
      read(options),
      'injectLiveCount',
    ),
  );
}

/**
 * What a pipeline makes of the documents, kept up to date.
 *
 * @example
 * ```ts
 * readonly totals = injectLiveAggregate(orders, [
 *   { $group: { _id: '$status', total: { $sum: '$amount' } } },
 * ]);
 * ```
 */
export function injectLiveAggregate<
  T extends object,
  S extends Stamp,
  const P extends readonly PipelineStage[],
>(
  collection: Given<Maybe<ShownCollection<T, S>>>,
  pipeline: Given<P>,
  options?: Given<AggregateQueryOptions<Totals<T, S, P>> | undefined>,
): Signals<LiveResult<readonly Totals<T, S, P>[]>> {
  return injectSource(() =>
    aggregateSource(read(collection), read(pipeline), read(options), 'injectLiveAggregate'),
  );
}

/**
 * The hits of a text index, best first, as somebody types. Without a text it is off.
 *
 * @example
 * ```ts
 * readonly typed = signal('');
 * readonly hits = injectLiveSearch(articles, this.typed, { highlight: true });
 * ```
 */
export function injectLiveSearch<
  T extends object,
  S extends Stamp,
  const L extends SelectOption<T, S> = undefined,
>(
  collection: Given<Maybe<ShownCollection<T, S>>>,
  text: Given<Maybe<string>>,
  options?: Given<SearchQueryOptions<T, S, L> | undefined>,
): Signals<LiveResult<readonly SearchHit<Found<T, S, L>>[]>> {
  return injectSource(() =>
    searchSource(read(collection), read(text), read(options), 'injectLiveSearch'),
  );
}

/**
 * The value at a key; `data` is `undefined` while there is none.
 *
 * @example
 * ```ts
 * readonly isDark = injectLiveValue<boolean>(settings, 'theme.dark');
 * ```
 */
export function injectLiveValue<V>(
  collection: Given<Maybe<KeyValueCollection<V>>>,
  key: Given<Maybe<Key>>,
): Signals<LiveResult<V | undefined>> {
  return injectSource(() => valueSource<V>(read(collection), read(key), 'injectLiveValue'));
}

/**
 * A list that grows by pages: the documents before stay, and stay the same objects. It begins anew
 * when its criteria change.
 *
 * @example
 * ```ts
 * readonly list = injectLivePages(orders, {}, { sort: { price: -1 }, page_size: 50 });
 * // @if (list.has_more()) { <button (click)="list.loadMore()">More</button> }
 * ```
 */
export function injectLivePages<
  T extends object,
  S extends Stamp,
  P extends Params<T, S>,
  const L extends SelectOption<T, S> = undefined,
  const N extends IncludeOption<S> = undefined,
>(
  collection: Given<Maybe<ShownCollection<T, S>>>,
  params: GivenParams<T, S, P>,
  options?: Given<PagesOptions<T, S, L, N> | undefined>,
): Signals<LivePages<Found<T, S, L, N>>> {
  return injectSource(
    () =>
      pagesSource(
        read(collection),
        read(params as Given<Params<T, S>>),
        read(options),
        'injectLivePages',
      ),
    OFF_PAGES as LivePages<Found<T, S, L, N>>,
  );
}

/**
 * A document in a form: what the user changes stays until it is saved, all other fields follow the
 * live document.
 *
 * @example
 * ```ts
 * readonly form = injectDraft(users, this.id);
 * // <input [value]="form.draft()?.name" (input)="form.set({ name: $any($event.target).value })" />
 * ```
 */
export function injectDraft<T extends object, S extends Stamp>(
  collection: Given<Maybe<ShownCollection<T, S>>>,
  id: Given<Maybe<IdOf<T>>>,
): Signals<DraftResult<T, S>> {
  return injectSource(
    () => draftSource(read(collection), read(id), 'injectDraft'),
    draftSource<T, S>(undefined, undefined).start,
  );
}

/** The status of a database: where its engine runs, what is unsaved, the last error. */
export function injectDatabaseStatus(db: DatabaseClient): Signal<ClientStatus> {
  return injectSourceSignal(() => statusSource(db, 'injectDatabaseStatus'));
}

/** The fields of a result as signals; its methods. */
export type Signals<R, Name extends keyof R = keyof R> = {
  readonly [Each in Name]: R[Each] extends (...args: never) => unknown ? R[Each] : Signal<R[Each]>;
};

/** Whether the app has rendered: its first rendering hydrates what a server has rendered. */
const HAS_RENDERED = new InjectionToken<Signal<boolean>>('cairndb: has rendered', {
  factory: () => {
    const hasRendered = signal(false);
    if (isInBrowser()) afterNextRender(() => hasRendered.set(true));
    return hasRendered;
  },
});

const isInBrowser = () => inject(PLATFORM_ID) === 'browser';

/** The state of a source as a signal, until its component or service is destroyed. */
function injectSourceSignal<R extends object>(make: () => Source<R>): Signal<R> {
  const hasRendered = inject(HAS_RENDERED);
  let shown: Shown | undefined;
  const source = computed(make, { equal: (before, fresh) => keep(before, fresh) === before });
  const changed = signal(undefined, { equal: () => false });
  const show = () => changed.set(undefined);
  // Effects run on a server too.
  if (isInBrowser())
    effect((onCleanup) => {
      const from = source();
      untracked(() => onCleanup(from.subscribe(show)));
      show();
    });
  return computed(() => {
    changed();
    const from = source();
    const result = hasRendered() ? from.view() : from.start;
    const filled = withData(result, from, shown);
    shown = noteShown(from, result, shown);
    return filled;
  });
}

/**
 * The state of a source as one signal for each field.
 *
 * @param fields Has their names: inputs that are required cannot be read yet.
 */
function injectSource<R extends object>(make: () => Source<R>, fields: object = OFF): Signals<R> {
  const state = injectSourceSignal(make);
  return eachField(
    fields,
    () => untracked(state),
    (name) => computed(() => state()[name as keyof R]),
  ) as Signals<R>;
}
