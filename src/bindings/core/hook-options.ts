import type { Found, SelectOption, Stamp, Stored } from '../../collection/document-types.ts';
import type { LiveCountOptions, LiveOptions } from '../../collection/live/live-options.ts';
import type { Criteria } from '../../query/criteria/criteria-types.ts';

/** A value, or its absence, with which a hook is off. */
export type Maybe<T> = T | null | undefined;

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
   * The result until the first of the database: from a loader, for rendering on a server and hydrating that page.
   * Counts until the component has shown a result.
   */
  initial?: Data | undefined;
  /**
   * What the functions of the query close over. Needed only for functions that are written inline: they count as the
   * same as long as their text and this value are the same.
   */
  key?: unknown;
}

/** Options of `useLiveQuery`: those of `live`, and `initial` and `key`. */
export type QueryOptions<
  T extends object,
  S extends Stamp = never,
  L extends SelectOption<T, S> = undefined,
> = LiveOptions<T, S, L> & HookOptions<readonly Found<T, S, L>[]>;

/** Options of `useLiveCount`. */
export type CountOptions<T extends object, S extends Stamp = never> = LiveCountOptions<T, S> &
  HookOptions<number>;

/** Options of `useLivePages`: those of `useLiveQuery` without `skip` and `limit`, and the size of a page. */
export type PagesOptions<
  T extends object,
  S extends Stamp = never,
  L extends SelectOption<T, S> = undefined,
> = Omit<QueryOptions<T, S, L>, 'skip' | 'limit'> & {
  /** Number of documents that are shown at first, and that `loadMore` adds, from 1. @default 50 */
  page_size?: number | undefined;
};
