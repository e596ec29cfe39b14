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
import type { ClientStatus } from '../../api/events.ts';
import type { DatabaseClient } from '../../page/client/database-client.ts';
import { eachField, keep, OFF, type Source, staying } from '../core/hook-result.ts';
import { type Framework, type LiveHooks, liveHooks } from '../core/live-hooks.ts';
import { draftSource, OFF_PAGES, statusSource } from '../core/sources.ts';

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

interface Angular extends Framework {
  /** A value, or a signal or function that reads it. */
  readonly given: this['value'] | (() => this['value']);
  readonly ref: never;
  readonly shown: Signals<this['value']>;
}

const hooks = /* @__PURE__ */ liveHooks<Angular>('inject', injectSource);

/**
 * The documents that match, as they are now.
 *
 * Call it in an injection context, such as the fields of a component; the query ends with that
 * component or service. Arguments may be signals, inputs too, or functions that read signals. When
 * they change, the old documents stay, with `is_stale`, until the new ones are there.
 *
 * @function
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
export const injectLiveQuery: LiveHooks<Angular>['LiveQuery'] = hooks.LiveQuery;

/**
 * The document with this id, archived or not; `data` is `undefined` while there is none.
 *
 * @function
 * @example
 * ```ts
 * readonly id = input.required<string>();
 * readonly order = injectLiveDocument(orders, this.id);
 * ```
 */
export const injectLiveDocument: LiveHooks<Angular>['LiveDocument'] = hooks.LiveDocument;

/** The number of documents that match; without params, of all. @function */
export const injectLiveCount: LiveHooks<Angular>['LiveCount'] = hooks.LiveCount;

/**
 * What a pipeline makes of the documents, kept up to date. Where the stages do not tell the type
 * of its rows, name it: `injectLiveAggregate<Row>(…)`.
 *
 * @function
 * @example
 * ```ts
 * readonly totals = injectLiveAggregate(orders, [
 *   { $group: { _id: '$status', total: { $sum: '$amount' } } },
 * ]);
 * ```
 */
export const injectLiveAggregate: LiveHooks<Angular>['LiveAggregate'] = hooks.LiveAggregate;

/**
 * The hits of a text index, best first, as somebody types. Without a text it is off.
 *
 * @function
 * @example
 * ```ts
 * readonly typed = signal('');
 * readonly hits = injectLiveSearch(articles, this.typed, { highlight: true });
 * ```
 */
export const injectLiveSearch: LiveHooks<Angular>['LiveSearch'] = hooks.LiveSearch;

/**
 * The value at a key; `data` is `undefined` while there is none.
 *
 * @function
 * @example
 * ```ts
 * readonly isDark = injectLiveValue<boolean>(settings, 'theme.dark');
 * ```
 */
export const injectLiveValue: LiveHooks<Angular>['LiveValue'] = hooks.LiveValue;

/**
 * A list that grows by pages: the documents before stay, and stay the same objects. It begins anew
 * when its criteria change.
 *
 * @function
 * @example
 * ```ts
 * readonly list = injectLivePages(orders, {}, { sort: { price: -1 }, page_size: 50 });
 * // @if (list.has_more()) { <button (click)="list.loadMore()">More</button> }
 * ```
 */
export const injectLivePages: LiveHooks<Angular>['LivePages'] = hooks.LivePages;

/**
 * A document in a form: what the user changes stays until it is saved, all other fields follow the
 * live document.
 *
 * @function
 * @example
 * ```ts
 * readonly form = injectDraft(users, this.id);
 * // <input [value]="form.draft()?.name" (input)="form.set({ name: $any($event.target).value })" />
 * ```
 */
export const injectDraft: LiveHooks<Angular>['Draft'] = hooks.Draft;

/** The status of a database: where its engine runs, what is unsaved, the last error. */
export function injectDatabaseStatus(db: DatabaseClient): Signal<ClientStatus> {
  return injectSourceSignal(() => statusSource('injectDatabaseStatus', db));
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
  const fill = staying<R>();
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
    return fill(hasRendered() ? from.view() : from.start, from);
  });
}

/** The fields of results that have more than those of a query. */
const FIELDS: Readonly<Record<string, () => object>> = {
  LivePages: () => OFF_PAGES,
  Draft: () => draftSource('', undefined, undefined).start,
};

/** The state of a source, a signal each field: inputs that are required cannot be read yet. */
function injectSource(make: () => Source<object>, name: string): object {
  const state = injectSourceSignal(make);
  return eachField(
    FIELDS[name]?.() ?? OFF,
    () => untracked(state),
    (field) => computed(() => state()[field as never]),
  );
}
