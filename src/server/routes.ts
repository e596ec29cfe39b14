import type { PullAnswer, PushAnswer, WatchAnswer } from '../replication/protocol/http-answers.ts';
import { MAX_ROWS } from '../replication/protocol/http-fields.ts';
import {
  readPullRequest,
  readPushRequest,
  readWatchRequest,
} from '../replication/protocol/http-requests.ts';
import type { Access } from './access.ts';
import { RequestFailure } from './failures.ts';
import { pushRows, visibleChange } from './push-rows.ts';
import type { Store } from './store.ts';

/** The target of a request. */
export interface Route {
  readonly name: keyof typeof routes;
  readonly collection: string;
}

interface Ask {
  readonly store: Store;
  readonly access: Access;
  readonly collection: string;
  /** Aborts when the client has left; not every platform has one. */
  readonly signal: AbortSignal | undefined;
  /** Milliseconds for which `watch` waits. */
  readonly hold: number;
}

/** Characters of the longest name, as for collections of a client. */
const MAX_NAME = 128;

/** What Postgres, logs and headers take as it is: no control characters, no half of a surrogate pair. */
const NAME = /^[^\p{Cc}\p{Cs}]+$/u;

/**
 * The collection and the call that a URL names: `…/orders/pull`.
 *
 * @throws {RequestFailure}
 */
export function routeOf(url: string): Route {
  const [encoded = '', name = ''] = new URL(url).pathname.split('/').slice(-2);
  const collection = decode(encoded);
  if (Object.hasOwn(routes, name) && NAME.test(collection) && collection.length <= MAX_NAME) {
    return { name: name as Route['name'], collection };
  }
  throw new RequestFailure(404, 'route_unknown', 'There is no such route.');
}

function decode(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return '';
  }
}

/** The calls; each takes a body that nobody has checked, and returns JSON text. */
export const routes = { pull, push, watch };

async function pull(body: unknown, { store, access, collection }: Ask): Promise<string> {
  const { after, limit } = readPullRequest(body);
  if (!access.canRead && store.pullText) return store.pullText(collection, after, limit);
  const page = await store.pull(collection, after, limit);
  if (!access.canRead) return JSON.stringify(page);
  const changes = [];
  for (const change of page.changes) changes.push(await visibleChange(change, access));
  return JSON.stringify({ ...page, changes } satisfies PullAnswer);
}

async function push(body: unknown, { store, access, collection }: Ask): Promise<string> {
  const rows = readPushRequest(body);
  if (rows.length > MAX_ROWS) {
    throw new RequestFailure(413, 'rows_too_many', `A push has at most ${MAX_ROWS} rows.`);
  }
  const results = await pushRows(store, collection, rows, access);
  return JSON.stringify({ results } satisfies PushAnswer);
}

async function watch(body: unknown, { store, collection, signal, hold }: Ask): Promise<string> {
  const { after } = readWatchRequest(body);
  const ended = new AbortController();
  const end = (): void => ended.abort();
  const timer = setTimeout(end, hold);
  signal?.addEventListener('abort', end);
  if (signal?.aborted) end();
  try {
    const changed = await store.watch(collection, after, ended.signal);
    return JSON.stringify({ changed } satisfies WatchAnswer);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
  }
}
