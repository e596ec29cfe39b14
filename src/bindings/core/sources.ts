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
import type { LiveQuery } from '../../collection/live/live-query.ts';
import type { Patch } from '../../collection/update/update-types.ts';
import type { Key } from '../../engine/protocol/key-value-protocol.ts';
import { OptionError } from '../../errors/option-error.ts';
import { keyOf, sorted } from './canonical-key.ts';
import { type DraftResult, draftOf } from './draft.ts';
import { growingList } from './growing-list.ts';
import type { CountOptions, Maybe, PagesOptions, QueryOptions } from './hook-options.ts';
import type { LivePages, Source } from './hook-result.ts';
import { type QuerySource, sourceOfQuery } from './shared-query.ts';

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
  return growingList(
    (limit) => listSource('useLivePages', collection, 'live', params, { ...options, limit }),
    page_size,
  );
}

export function draftSource<T extends object, S extends Stamp>(
  collection: Maybe<DocumentCollection<T, S>>,
  id: Maybe<string>,
): Source<DraftResult<T, S>> {
  // Typed as for copies: what it hands out is frozen in any case.
  const live = documentSource('useDraft', collection, id) as QuerySource<Stored<T, S> | undefined>;
  return draftOf<T, S>(live, async (fields) => collection?.patch(id as string, fields as Patch<T>));
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

type Method = 'live' | 'liveCount' | 'liveDocument';

function listSource<T>(
  hook: string,
  collection: Maybe<object>,
  method: Method,
  params: unknown,
  given?: ListOptions,
): QuerySource<T> {
  const { initial, key, ...options } = given ?? {};
  return sourceOf(hook, collection, method, [params, options], { is_list: true, initial }, key);
}

function sourceOf<T>(
  hook: string,
  collection: Maybe<object>,
  method: Method,
  args: readonly unknown[],
  rest: Pick<Source<unknown>, 'is_list' | 'initial'> = {},
  names?: unknown,
  type = 'DOCUMENT_BASED',
): QuerySource<T> {
  if (!isNone(collection) && (collection as { type?: unknown }).type !== type)
    throw wrong(hook, collection, `a ${type} collection`);
  const live = collection as Record<Method, (...given: readonly unknown[]) => LiveQuery<T>>;
  let key: string;
  let open = () => live[method](...args);
  try {
    key = method + keyOf([names, args.map(sorted)], names !== undefined);
  } catch (cause) {
    // Cycles, for example. They go to `error`, as all that is wrong with a query.
    key = `${hook}() cannot compare its criteria and options: ${(cause as Error).message}`;
    open = () => {
      throw new OptionError('option_invalid', key, { place: hook, cause });
    };
  }
  return sourceOfQuery(collection, key, open, rest);
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
