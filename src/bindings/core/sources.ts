import type { DatabaseClient } from '../../client/database-client.ts';
import type { DocumentCollection } from '../../collection/document-collection.ts';
import type {
  Found,
  Params,
  Read,
  SelectOption,
  Stamp,
  Stored,
} from '../../collection/document-types.ts';
import type { ClientStatus } from '../../collection/events.ts';
import type { KeyValueCollection } from '../../collection/key-value-collection.ts';
import type { Patch } from '../../collection/update/update-types.ts';
import type { Key } from '../../engine/protocol/key-value-protocol.ts';
import { OptionError } from '../../errors/option-error.ts';
import type { DraftResult } from './draft.ts';
import type { CountOptions, Maybe, PagesOptions, QueryOptions } from './hook-options.ts';
import { type LivePages, type LiveResult, OFF, PENDING, type Source } from './hook-result.ts';
import type { QueryCall } from './query-of.ts';
import { lazySource, loadSubscribedCode, subscribedCode } from './subscribed-code.ts';

type QuerySource<T> = Source<LiveResult<T>>;

export function querySource<T extends object, S extends Stamp, L extends SelectOption<T, S>>(
  hook: string,
  collection: Maybe<DocumentCollection<T, S>>,
  params: Params<T, S>,
  options?: QueryOptions<T, S, L>,
): QuerySource<readonly Found<T, S, L>[]> {
  return listSource(hook, collection, 'live', params, options);
}

export function countSource<T extends object, S extends Stamp>(
  collection: Maybe<DocumentCollection<T, S>>,
  params: Params<T, S> = {} as Params<T, S>,
  options?: CountOptions<T, S>,
): QuerySource<number> {
  return listSource('useLiveCount', collection, 'liveCount', params, options);
}

export function documentSource<T extends object, S extends Stamp>(
  hook: string,
  collection: Maybe<DocumentCollection<T, S>>,
  id: Maybe<string>,
): QuerySource<Read<T, S> | undefined> {
  return sourceOf(hook, isNone(id) ? undefined : collection, 'liveDocument', [id]);
}

export function valueSource<T>(
  collection: Maybe<KeyValueCollection<T>>,
  key: Maybe<Key>,
): QuerySource<T | undefined> {
  const given = isNone(key) ? undefined : collection;
  return sourceOf('useLiveValue', given, 'live', [key], {}, undefined, 'KEY_VALUE_BASED');
}

export function pagesSource<T extends object, S extends Stamp, L extends SelectOption<T, S>>(
  collection: Maybe<DocumentCollection<T, S>>,
  params: Params<T, S>,
  given?: PagesOptions<T, S, L>,
): Source<LivePages<Found<T, S, L>>> {
  const { page_size = 50, ...options } = given ?? {};
  if (!(Number.isSafeInteger(page_size) && page_size > 0)) {
    const message = `"page_size" must be a whole number, 1 or more, not ${page_size}.`;
    throw new OptionError('option_invalid', message, { place: 'page_size' });
  }
  const open = (limit: number) =>
    listSource<readonly Found<T, S, L>[]>('useLivePages', collection, 'live', params, {
      ...options,
      limit,
    });
  const { start: pending, is_list, initial } = open(page_size);
  const start = { ...pending, has_more: false, loadMore: () => undefined } as LivePages<
    Found<T, S, L>
  >;
  return lazySource({ collection, start, is_list, initial }, ({ growingList }) =>
    growingList(open, page_size, start),
  );
}

export function draftSource<T extends object, S extends Stamp>(
  collection: Maybe<DocumentCollection<T, S>>,
  id: Maybe<string>,
): Source<DraftResult<T, S>> {
  // Typed as for copies: what it hands out is frozen in any case.
  const live = documentSource('useDraft', collection, id) as QuerySource<Stored<T, S> | undefined>;
  const later = (name: 'set' | 'save' | 'reset') => (changes?: unknown) => {
    const done = loadSubscribedCode().then((): never => {
      const { error, ...methods } = source.view();
      if (!subscribedCode()) throw error;
      return methods[name](changes as never) as never;
    });
    // As that of `save`: the failure is in `error`.
    done.catch(() => undefined);
    return done;
  };
  const start: DraftResult<T, S> = {
    draft: undefined,
    status: live.start.status,
    error: undefined,
    is_dirty: false,
    is_saving: false,
    set: later('set'),
    save: later('save'),
    reset: later('reset'),
  };
  const source: Source<DraftResult<T, S>> = lazySource(
    { collection: live.collection, start },
    ({ draftOf }) =>
      draftOf<T, S>(live, async (fields) => collection?.patch(id as string, fields as Patch<T>)),
    `draft ${id}`,
  );
  return source;
}

const idle = { state: 'idle', tabs: 0, unsaved: 0 } as ClientStatus;

export function statusSource(db: DatabaseClient): Source<ClientStatus> {
  if (!db?.Collection) throw wrong('useDatabaseStatus', db, 'a Database or a connection');
  // `db.status` makes a new object each time.
  let last: ClientStatus | undefined;
  return {
    collection: db,
    key: 'status',
    start: idle,
    subscribe: (listener) => {
      last = undefined;
      return db.on('status', (status) => {
        last = status;
        listener();
      });
    },
    view: () => {
      last ??= db.status;
      return last;
    },
  };
}

const isNone = (value: unknown) => value === undefined || value === null;

interface ListOptions {
  readonly initial?: unknown;
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
  const { initial, key, ...options } = given ?? {};
  return sourceOf(hook, collection, method, [params, options], { is_list: true, initial }, key);
}

function sourceOf<T>(
  hook: string,
  collection: Maybe<object>,
  method: QueryCall['method'],
  args: readonly unknown[],
  rest: Pick<Source<unknown>, 'is_list' | 'initial'> = {},
  names?: unknown,
  type = 'DOCUMENT_BASED',
): QuerySource<T> {
  if (!isNone(collection) && (collection as { type?: unknown }).type !== type)
    throw wrong(hook, collection, `a ${type} collection`);
  // An object of its own: React would skip the commit of another query in the same state.
  const start = { ...(isNone(collection) ? OFF : PENDING) } as LiveResult<T>;
  const call = { method, args, names };
  if (!subscribedCode()) readAll(args);
  return lazySource({ ...rest, collection, start }, ({ queryOf }) =>
    queryOf(hook, collection as object, call, start),
  );
}

/** Reads arguments to their depth, as their key will: frameworks track what is reactive in them. */
function readAll(args: readonly unknown[]): void {
  try {
    JSON.stringify(args);
  } catch {
    // Their key tells what is wrong with them.
  }
}

/** The error of an argument of another kind. */
export function wrong(hook: string, given: unknown, needed: string): OptionError {
  const { type, then, subscribe } = (given ?? {}) as Record<string, unknown>;
  const what = type
    ? `a ${type} collection`
    : then
      ? 'a promise'
      : subscribe
        ? 'a live query'
        : typeof given;
  return new OptionError('option_invalid', `${hook}() got ${what}; pass ${needed}.`, {
    place: hook,
  });
}
