import {
  type Accessor,
  createEffect,
  createMemo,
  createSignal,
  onCleanup,
  sharedConfig,
} from 'solid-js';
import type { ClientStatus } from '../../api/events.ts';
import type { DatabaseClient } from '../../page/client/database-client.ts';
import { eachField, keep, type Source, staying } from '../core/hook-result.ts';
import { type Framework, type LiveHooks, liveHooks } from '../core/live-hooks.ts';
import { statusSource } from '../core/sources.ts';

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

interface Solid extends Framework {
  readonly given: this['value'] | Accessor<this['value']>;
  readonly ref: never;
  readonly shown: Accessors<this['value']>;
}

const hooks = /* @__PURE__ */ liveHooks<Solid>('use', useSource);

/**
 * The documents that match, as they are now.
 *
 * Arguments may be accessors. When they change, the old documents stay, with `is_stale`, until the
 * new ones are there.
 *
 * @function
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
export const useLiveQuery: LiveHooks<Solid>['LiveQuery'] = hooks.LiveQuery;

/**
 * The document with this id, archived or not; `data` is `undefined` while there is none.
 *
 * @function
 * @example
 * ```ts
 * const { data: order } = useLiveDocument(orders, () => props.id);
 * ```
 */
export const useLiveDocument: LiveHooks<Solid>['LiveDocument'] = hooks.LiveDocument;

/** The number of documents that match; without params, of all. @function */
export const useLiveCount: LiveHooks<Solid>['LiveCount'] = hooks.LiveCount;

/**
 * What a pipeline makes of the documents, kept up to date. Where the stages do not tell the type
 * of its rows, name it: `useLiveAggregate<Row>(…)`.
 *
 * @function
 * @example
 * ```ts
 * const { data } = useLiveAggregate(orders, [
 *   { $group: { _id: '$status', total: { $sum: '$amount' } } },
 * ]);
 * ```
 */
export const useLiveAggregate: LiveHooks<Solid>['LiveAggregate'] = hooks.LiveAggregate;

/**
 * The hits of a text index, best first, as somebody types. Without a text it is off.
 *
 * @function
 * @example
 * ```ts
 * const { data } = useLiveSearch(articles, typed, { highlight: true });
 * ```
 */
export const useLiveSearch: LiveHooks<Solid>['LiveSearch'] = hooks.LiveSearch;

/**
 * The value at a key; `data` is `undefined` while there is none.
 *
 * @function
 * @example
 * ```ts
 * const { data: isDark } = useLiveValue<boolean>(settings, 'theme.dark');
 * ```
 */
export const useLiveValue: LiveHooks<Solid>['LiveValue'] = hooks.LiveValue;

/**
 * A list that grows by pages: the documents before stay, and stay the same objects. It begins anew
 * when its criteria change.
 *
 * @function
 * @example
 * ```ts
 * const options = { sort: { price: -1 }, page_size: 50 };
 * const { data, has_more, loadMore } = useLivePages(orders, {}, options);
 * ```
 */
export const useLivePages: LiveHooks<Solid>['LivePages'] = hooks.LivePages;

/**
 * A document in a form: what the user changes stays until it is saved, all other fields follow the
 * live document.
 *
 * @function
 * @example
 * ```ts
 * const { draft, set, save, is_dirty } = useDraft(users, () => props.id);
 * ```
 */
export const useDraft: LiveHooks<Solid>['Draft'] = hooks.Draft;

/** The status of a database: where its engine runs, what is unsaved, the last error. */
export function useDatabaseStatus(db: DatabaseClient): Accessor<ClientStatus> {
  return useSourceAccessor(() => statusSource('useDatabaseStatus', db));
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
  const fill = staying<R>();
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
  return createMemo(() => fill(result(), source()));
}

function useSource(make: () => Source<object>): object {
  const state = useSourceAccessor(make);
  return eachField(state(), state, (name) => createMemo(() => state()[name as never]));
}
