import type { ClientStatus } from '../../api/events.ts';
import { OptionError } from '../../errors/errors.ts';
import type { DatabaseClient } from '../../page/client/database-client.ts';
import {
  REPLICATION,
  type Replicable,
  type Replicating,
  type ReplicationAccess,
  type ScopeHolder,
} from '../../page/collections/replication-access.ts';
import { draftOf } from './draft.ts';
import type { LivePages, LiveResult, Running, Source } from './hook-result.ts';
import { keyOf, queryOf, wrong } from './query-of.ts';

/** What runs behind the hooks. It is larger than they are. */
export const subscribed = {
  draftOf,
  growingList,
  queryOf,
  statusOf,
  noteRead,
  otherQuery,
  settled,
  withScope,
};

/** The status of a database. @throws {OptionError} `option_invalid` if it is none. */
function statusOf(db: DatabaseClient, hook: string): Running<ClientStatus> {
  if (!db?.Collection) throw wrong(hook, db, 'a Database or a connection');
  // `db.status` makes a new object each time.
  let last: ClientStatus | undefined;
  return {
    key: 'status',
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

/**
 * A component that suspends may take so long, after the result, until it commits; then its query
 * ends. Long: hundreds below one boundary commit together, with the last of them.
 */
const UNCOMMITTED_MS = 60_000;

/**
 * So many results that components have waited for and not come back to read are an endless loop.
 */
const MOST_UNREAD = 1000;

/** The error of a component that would render for ever. */
function otherQuery(): OptionError {
  return new OptionError(
    'option_invalid',
    'The query is another in each render: make collections, functions and dates outside, or give `key`.',
  );
}

interface Wait {
  readonly settled: Promise<void>;
  /** Whether the result is there and nobody has read it. */
  isUnread: boolean;
  end: () => void;
}

/** By collection and key: React throws away what a render makes that suspends. */
const waits = new WeakMap<object, Map<string, Wait>>();

/**
 * Runs a query, also without readers, until it has a result and a while longer.
 *
 * @throws {OptionError} `option_invalid` in an endless loop.
 */
export function settled(source: Source<LiveResult<unknown>>): Promise<void> {
  const collection = source.collection as object;
  const all = waits.get(collection) ?? new Map<string, Wait>();
  waits.set(collection, all);
  const waiting = all.get(source.key);
  if (waiting) return waiting.settled;
  const unread = [...all.values()].filter(({ isUnread }) => isUnread);
  if (unread.length > MOST_UNREAD) {
    // In a later turn: React renders twice what throws.
    setTimeout(() => {
      for (const { end } of unread) end();
    });
    throw otherQuery();
  }
  let resolve: () => void;
  const wait: Wait = {
    settled: new Promise<void>((settle) => {
      resolve = settle;
    }),
    isUnread: false,
    end: () => undefined,
  };
  all.set(source.key, wait);
  const leave = source.subscribe(() => {
    const { status } = source.view();
    if (status === 'pending' || wait.isUnread) return;
    wait.isUnread = true;
    resolve();
    setTimeout(() => wait.end(), UNCOMMITTED_MS);
  });
  wait.end = () => {
    leave();
    if (all.get(source.key) === wait) all.delete(source.key);
  };
  return wait.settled;
}

/** Notes that a component has come back for the result. */
function noteRead({ collection, key }: Source<unknown>): void {
  waits.get(collection as object)?.delete(key);
}

type Query<D> = Source<LiveResult<readonly D[]>>;

/**
 * A list that grows by pages: a live query whose `limit` grows. The list before stays until the
 * longer one is there, and its documents stay the same objects in it.
 *
 * @param open Makes the query with a limit.
 * @param start Before the first result.
 * @throws {OptionError} `option_invalid`
 */
function growingList<D extends object>(
  open: (limit: number) => Query<D>,
  page_size: number,
  start: LivePages<D>,
): Running<LivePages<D>> {
  if (!(Number.isSafeInteger(page_size) && page_size > 0)) {
    const message = `"page_size" must be a whole number, 1 or more, not ${page_size}.`;
    throw new OptionError('option_invalid', message, { place: 'page_size' });
  }
  let limit = page_size;
  // One more document shows whether there is another page.
  let query = open(limit + 1);
  let stop: (() => void) | undefined;
  let notify: (() => void) | undefined;
  /** The shown object for each document of a query. */
  const shown = new WeakMap<D, D>();

  const loadMore = () => {
    if (!stop || view.status !== 'ready' || !view.has_more) return;
    limit += page_size;
    run(open(limit + 1));
  };
  let view = start;

  /** Unchanged documents are the same objects in the longer list. */
  const shownList = (found: readonly D[]) => {
    const before = new Map(view.data?.map((document) => [idOf(document), document]));
    return found.slice(0, limit).map((document) => {
      const known = before.get(idOf(document));
      const same =
        shown.get(document) ?? (known && keyOf(known) === keyOf(document) ? known : document);
      shown.set(document, same);
      return same;
    });
  };

  const take = () => {
    const result = query.view();
    const found = result.data;
    const list = found && shownList(found);
    const data = list && isEqual(list, view.data) ? view.data : (list ?? view.data);
    const next = {
      ...result,
      data,
      is_stale: data !== undefined && result.status !== 'ready',
      has_more: found ? found.length > limit : view.has_more,
      loadMore,
    } as LivePages<D>;
    if (isEqual(Object.values(next), Object.values(view))) return;
    view = next;
    notify?.();
  };

  const run = (next: Query<D>) => {
    const leave = stop;
    query = next;
    stop = next.subscribe(() => next === query && take());
    leave?.();
    take();
  };

  return {
    key: `pages ${query.key}`,
    subscribe: (listener) => {
      notify = listener;
      run(query);
      return () => {
        stop?.();
        stop = undefined;
      };
    },
    view: () => view,
  };
}

const idOf = (document: object) => (document as { readonly _id: string })._id;

function isEqual(a: readonly unknown[], b: readonly unknown[] | undefined): boolean {
  return a.length === b?.length && a.every((value, index) => value === b[index]);
}

/**
 * A query that has a scope of the collection's replication while somebody subscribes.
 *
 * The replication may begin later, or be another one by then: each tells the client where it
 * stands.
 */
function withScope<T>(
  query: Running<LiveResult<T>>,
  collection: object,
  scope: object,
): Running<LiveResult<T>> {
  let failure: LiveResult<T> | undefined;

  const hold = (failed: () => void) => {
    const { name, [REPLICATION]: access } = collection as Replicable;
    const { owner } = access as ReplicationAccess;
    let from: ScopeHolder | undefined;
    let leave: (() => void) | undefined;
    const look = () => {
      const found = (owner as Replicating)[REPLICATION]?.get(name);
      const next = found?.isStopped ? undefined : found;
      if (next === from) return;
      leave?.();
      from = next;
      leave = next?.hold(scope, (error) => {
        failure = { ...query.view(), status: 'error', error } as LiveResult<T>;
        failed();
      });
    };
    const stop = owner.on('replication', look);
    look();
    return () => {
      stop();
      leave?.();
    };
  };

  return {
    ...query,
    key: `${keyOf(scope)} ${query.key}`,
    view: () => failure ?? query.view(),
    subscribe: (listener) => {
      failure = undefined;
      const stop = query.subscribe(listener);
      const leave = hold(listener);
      return () => {
        leave();
        stop();
      };
    },
  };
}
