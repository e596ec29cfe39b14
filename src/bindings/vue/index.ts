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

/** A collection, also out of a reactive object: Vue's proxies hide private fields. */
function rawValue(collection: unknown): unknown {
  return toRaw(toValue(collection));
}

interface Vue extends Framework {
  readonly given: MaybeRefOrGetter<this['value']>;
  readonly ref: Ref<this['value']>;
  readonly shown: Refs<this['value']>;
}

const hooks = /* @__PURE__ */ liveHooks<Vue>('use', useSource, toValue, rawValue);

/**
 * The documents that match, as they are now.
 *
 * Arguments may be refs or getters, and criteria reactive. When they change, the old documents
 * stay, with `is_stale`, until the new ones are there.
 *
 * @function
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
export const useLiveQuery: LiveHooks<Vue>['LiveQuery'] = hooks.LiveQuery;

/**
 * The document with this id, archived or not; `data` is `undefined` while there is none.
 *
 * @function
 * @example
 * ```ts
 * const { data: order } = useLiveDocument(orders, () => props.id);
 * ```
 */
export const useLiveDocument: LiveHooks<Vue>['LiveDocument'] = hooks.LiveDocument;

/** The number of documents that match; without params, of all. @function */
export const useLiveCount: LiveHooks<Vue>['LiveCount'] = hooks.LiveCount;

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
export const useLiveAggregate: LiveHooks<Vue>['LiveAggregate'] = hooks.LiveAggregate;

/**
 * The hits of a text index, best first, as somebody types. Without a text it is off.
 *
 * @function
 * @example
 * ```ts
 * const { data } = useLiveSearch(articles, typed, { highlight: true });
 * ```
 */
export const useLiveSearch: LiveHooks<Vue>['LiveSearch'] = hooks.LiveSearch;

/**
 * The value at a key; `data` is `undefined` while there is none.
 *
 * @function
 * @example
 * ```ts
 * const { data: isDark } = useLiveValue<boolean>(settings, 'theme.dark');
 * ```
 */
export const useLiveValue: LiveHooks<Vue>['LiveValue'] = hooks.LiveValue;

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
export const useLivePages: LiveHooks<Vue>['LivePages'] = hooks.LivePages;

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
export const useDraft: LiveHooks<Vue>['Draft'] = hooks.Draft;

/** The status of a database: where its engine runs, what is unsaved, the last error. */
export function useDatabaseStatus(db: DatabaseClient): Readonly<ShallowRef<ClientStatus>> {
  return useSourceRef(() => statusSource('useDatabaseStatus', db));
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
  const fill = staying<R>();
  const source = computed<Source<R>>((before) => keep(before, make()));
  const changed = shallowRef();
  const show = () => {
    changed.value = {};
  };
  // Computed, so that what is read or called in the tick of a change belongs to the new arguments.
  const state = computed(() => {
    void changed.value;
    const from = source.value;
    return fill(isHydrating ? from.start : from.view(), from);
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

function useSource(make: () => Source<object>): object {
  const state = useSourceRef(make);
  const current = () => state.value;
  return eachField(current(), current, (name) => computed(() => current()[name as never]));
}
