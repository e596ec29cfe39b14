import type { AggregateResult, PipelineStage } from '../../api/aggregate-types.ts';
import type { Found, IdOf, Params, SelectOption, Stamp, Stored } from '../../api/document-types.ts';
import type { ClientStatus } from '../../api/events.ts';
import type { IncludeOption } from '../../api/relation-types.ts';
import type { SearchHit } from '../../api/search-types.ts';
import type { Patch } from '../../api/update-types.ts';
import type { DatabaseClient } from '../../page/client/database-client.ts';
import type { KeyValueCollection } from '../../page/collections/key-value-collection.ts';
import { UNKNOWN_STATUS } from '../../protocol/database-settings.ts';
import type { Key } from '../../protocol/key-value-protocol.ts';
import type { DraftResult } from './draft.ts';
import {
  type AggregateQueryOptions,
  type CountOptions,
  type DocumentOptions,
  isNone,
  type LivePages,
  type LiveResult,
  type Maybe,
  OFF,
  type PagesOptions,
  PENDING,
  type QueryOptions,
  type SearchQueryOptions,
  type ShownCollection,
  type Source,
} from './hook-result.ts';
import type { QueryCall } from './query-of.ts';
import { lazySource, loadSubscribedCode, subscribedCode } from './subscribed-code.ts';

type QuerySource<T> = Source<LiveResult<T>>;

export function querySource<
  T extends object,
  S extends Stamp,
  L extends SelectOption<T, S>,
  N extends IncludeOption<S>,
>(
  hook: string,
  collection: Maybe<ShownCollection<T, S>>,
  params: Params<T, S>,
  options?: QueryOptions<T, S, L, N>,
): QuerySource<readonly Found<T, S, L, N>[]> {
  return listSource(hook, collection, 'live', params, options);
}

export function countSource<T extends object, S extends Stamp>(
  hook: string,
  collection: Maybe<ShownCollection<T, S>>,
  params: Params<T, S> = {} as Params<T, S>,
  options?: CountOptions<T, S>,
): QuerySource<number> {
  return listSource(hook, collection, 'liveCount', params, options);
}

/** What a pipeline makes of the documents of a collection. */
export type Totals<
  T extends object,
  S extends Stamp,
  P extends readonly PipelineStage[],
  R = undefined,
> = AggregateResult<Stored<T, S>, P, R>;

export function aggregateSource<
  T extends object,
  S extends Stamp,
  P extends readonly PipelineStage[],
  R extends object | undefined = undefined,
>(
  hook: string,
  collection: Maybe<ShownCollection<T, S>>,
  pipeline: P,
  options?: AggregateQueryOptions<Totals<T, S, P, R>>,
): QuerySource<readonly Totals<T, S, P, R>[]> {
  return listSource(hook, collection, 'liveAggregate', pipeline, options);
}

export function searchSource<T extends object, S extends Stamp, L extends SelectOption<T, S>>(
  hook: string,
  collection: Maybe<ShownCollection<T, S>>,
  text: Maybe<string>,
  options?: SearchQueryOptions<T, S, L>,
): QuerySource<readonly SearchHit<Found<T, S, L>>[]> {
  const given = isNone(text) ? undefined : collection;
  return listSource(hook, given, 'liveSearch', text, options);
}

export function documentSource<
  T extends object,
  S extends Stamp,
  N extends IncludeOption<S> = undefined,
>(
  hook: string,
  collection: Maybe<ShownCollection<T, S>>,
  id: Maybe<IdOf<T>>,
  options?: DocumentOptions<N>,
): QuerySource<Found<T, S, undefined, N> | undefined> {
  const args = options ? [id, options] : [id];
  return sourceOf(hook, isNone(id) ? undefined : collection, 'liveDocument', args);
}

export function valueSource<T>(
  hook: string,
  collection: Maybe<KeyValueCollection<T>>,
  key: Maybe<Key>,
): QuerySource<T | undefined> {
  const given = isNone(key) ? undefined : collection;
  return sourceOf(hook, given, 'live', [key], {}, undefined, 'KEY_VALUE_BASED');
}

export function pagesSource<
  T extends object,
  S extends Stamp,
  L extends SelectOption<T, S>,
  N extends IncludeOption<S>,
>(
  hook: string,
  collection: Maybe<ShownCollection<T, S>>,
  params: Params<T, S>,
  given?: PagesOptions<T, S, L, N>,
): Source<LivePages<Found<T, S, L, N>>> {
  const { page_size = 50, ...options } = given ?? {};
  const open = (limit: number) =>
    listSource<readonly Found<T, S, L, N>[]>(hook, collection, 'live', params, {
      ...options,
      limit,
    });
  const { start: pending, is_list, initial } = open(page_size);
  const start = startOf(pending.status === 'off' ? OFF_PAGES : PENDING_PAGES) as LivePages<
    Found<T, S, L, N>
  >;
  return lazySource({ collection, start, is_list, initial }, ({ growingList }) =>
    growingList(open, page_size, start),
  );
}

export function draftSource<T extends object, S extends Stamp>(
  hook: string,
  collection: Maybe<ShownCollection<T, S>>,
  id: Maybe<IdOf<T>>,
): Source<DraftResult<T, S>> {
  // Typed as for copies: what it hands out is frozen in any case.
  const live = documentSource(hook, collection, id) as QuerySource<Stored<T, S> | undefined>;
  const later = (name: 'set' | 'save' | 'reset') => (changes?: unknown) => {
    const given = copyOf(changes);
    const done = loadSubscribedCode().then(
      () => (isNone(live.collection) ? undefined : source.view()[name](given as never)) as never,
    );
    // As that of `save`: the failure is in `error`.
    done.catch(() => undefined);
    return done;
  };
  const start: DraftResult<T, S> = {
    draft: undefined,
    status: live.start.status,
    error: undefined,
    is_dirty: false,
    conflicts: [],
    is_saving: false,
    set: later('set'),
    save: later('save'),
    reset: later('reset'),
  };
  const source: Source<DraftResult<T, S>> = lazySource(
    { collection: live.collection, start },
    ({ draftOf }) =>
      draftOf<T, S>(live, async (fields) =>
        // In a patch they would be paths, or operators.
        Object.keys(fields).some((field) => /^\$|\.|^$/.test(field))
          ? collection?.modify(id as IdOf<T>, (document) => ({ ...document, ...fields }) as never)
          : collection?.patch(id as IdOf<T>, fields as Patch<T>),
      ),
    `draft ${id}`,
  );
  return source;
}

/** Later changes of the caller's values have no effect, unless a value cannot be stored. */
function copyOf(changes: unknown): unknown {
  try {
    return structuredClone(changes);
  } catch {
    return changes;
  }
}

const idle = { ...UNKNOWN_STATUS, state: 'idle' } as ClientStatus;

export function statusSource(hook: string, db: DatabaseClient): Source<ClientStatus> {
  return lazySource(
    { collection: db ?? {}, start: idle },
    ({ statusOf }) => statusOf(db, hook),
    'status',
  );
}

interface ListOptions {
  readonly initial?: unknown;
  readonly sync?: object | undefined;
  readonly key?: unknown;
  readonly limit?: number | undefined;
}

function listSource<T>(
  hook: string,
  collection: Maybe<object>,
  method: QueryCall['method'],
  params: unknown,
  given?: ListOptions,
): QuerySource<T> {
  const { initial, key, sync, ...options } = given ?? {};
  const args = [params, options];
  const rest = { is_list: true, initial };
  return sourceOf(hook, collection, method, args, rest, key, 'DOCUMENT_BASED', sync);
}

function sourceOf<T>(
  hook: string,
  collection: Maybe<object>,
  method: QueryCall['method'],
  args: readonly unknown[],
  rest: Pick<Source<unknown>, 'is_list' | 'initial'> = {},
  names?: unknown,
  type = 'DOCUMENT_BASED',
  sync?: object,
): QuerySource<T> {
  const start = startOf(isNone(collection) ? OFF : PENDING) as LiveResult<T>;
  const call = { method, args, names, type };
  if (!subscribedCode()) readAll([names, args, sync]);
  return lazySource({ ...rest, collection, start }, ({ queryOf, withScope }) => {
    const query = queryOf<T>(hook, collection as object, call, start);
    return sync ? withScope(query, collection as object, sync) : query;
  });
}

export const OFF_PAGES = { ...OFF, has_more: false, loadMore: () => undefined };
const PENDING_PAGES = { ...OFF_PAGES, ...PENDING };

/**
 * What a query shows at first: an object of its own, since React would skip the commit of another
 * query in the same state. Until there is code no query is known from another, and its result must
 * not be another in each render.
 */
const startOf = <R extends object>(result: R): R => (subscribedCode() ? { ...result } : result);

/** Reads arguments to their depth, as their key will: frameworks track what is reactive in them. */
function readAll(args: readonly unknown[]): void {
  try {
    JSON.stringify(args, (_, value) => {
      if (value instanceof Map || value instanceof Set) return [...value];
      return typeof value === 'bigint' ? 0 : value;
    });
  } catch {
    // Their key tells what is wrong with them.
  }
}
