import { untrack } from 'svelte';
import { createSubscriber } from 'svelte/reactivity';
import { fromStore, type Readable, toStore } from 'svelte/store';
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

interface Svelte extends Framework {
  /** A value, or a function that reads it from state. */
  readonly given: this['value'] | (() => this['value']);
  readonly ref: never;
  readonly shown: Current<this['value']>;
}

const hooks = /* @__PURE__ */ liveHooks<Svelte>('use', useSource);

/**
 * The documents that match, as they are now.
 *
 * Arguments may be functions that read state. The result has getters: do not destructure it. When
 * they change, the old documents stay, with `is_stale`, until the new ones are there.
 *
 * @function
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
export const useLiveQuery: LiveHooks<Svelte>['LiveQuery'] = hooks.LiveQuery;

/**
 * The document with this id, archived or not; `data` is `undefined` while there is none.
 *
 * @function
 * @example
 * ```ts
 * const order = useLiveDocument(orders, () => id);
 * ```
 */
export const useLiveDocument: LiveHooks<Svelte>['LiveDocument'] = hooks.LiveDocument;

/** The number of documents that match; without params, of all. @function */
export const useLiveCount: LiveHooks<Svelte>['LiveCount'] = hooks.LiveCount;

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
export const useLiveAggregate: LiveHooks<Svelte>['LiveAggregate'] = hooks.LiveAggregate;

/**
 * The hits of a text index, best first, as somebody types. Without a text it is off.
 *
 * @function
 * @example
 * ```ts
 * const { data } = useLiveSearch(articles, () => typed, { highlight: true });
 * ```
 */
export const useLiveSearch: LiveHooks<Svelte>['LiveSearch'] = hooks.LiveSearch;

/**
 * The value at a key; `data` is `undefined` while there is none.
 *
 * @function
 * @example
 * ```ts
 * const isDark = useLiveValue<boolean>(settings, 'theme.dark');
 * ```
 */
export const useLiveValue: LiveHooks<Svelte>['LiveValue'] = hooks.LiveValue;

/**
 * A list that grows by pages: the documents before stay, and stay the same objects. It begins anew
 * when its criteria change.
 *
 * @function
 * @example
 * ```ts
 * const list = useLivePages(orders, {}, { sort: { price: -1 }, page_size: 50 });
 * // {#if list.has_more}<button onclick={list.loadMore}>More</button>{/if}
 * ```
 */
export const useLivePages: LiveHooks<Svelte>['LivePages'] = hooks.LivePages;

/**
 * A document in a form: what the user changes stays until it is saved, all other fields follow the
 * live document.
 *
 * @function
 * @example
 * ```ts
 * const form = useDraft(users, () => id);
 * // <input bind:value={() => form.draft?.name, (name) => form.set({ name })} />
 * ```
 */
export const useDraft: LiveHooks<Svelte>['Draft'] = hooks.Draft;

/** The status of a database: where its engine runs, what is unsaved, the last error. */
export function useDatabaseStatus(db: DatabaseClient): { readonly current: ClientStatus } {
  return useCurrent(() => statusSource('useDatabaseStatus', db));
}

/** The fields of a result, and the result as a whole, which TypeScript narrows by `status`. */
export type Current<R, Name extends keyof R = keyof R> = { readonly current: R } & {
  readonly [Each in Name]: R[Each];
};

/** The state of a source. It is followed while an effect or a template reads it. */
function useCurrent<R extends object>(make: () => Source<R>): { readonly current: R } {
  const fill = staying<R>();
  const subscribers = new WeakMap<Source<R>, () => void>();
  const source = useNewest(make);
  return {
    get current() {
      const from = source.current;
      const follow = subscribers.get(from) ?? createSubscriber(from.subscribe);
      subscribers.set(from, follow);
      follow();
      return fill(from.view(), from);
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

function useSource(make: () => Source<object>): object {
  const state = useCurrent(make);
  // Untracked: an effect that calls a method need not run again, and calls that of the arguments as
  // they are.
  const current = () => untrack(() => state.current);
  const { start } = make();
  const shown = eachField(start, current, (name) => () => state.current[name as never]);
  for (const [name, show] of Object.entries(shown))
    Object.defineProperty(state, name, {
      ...(typeof start[name as never] === 'function' ? { value: show } : { get: show }),
      enumerable: true,
    });
  return state;
}
