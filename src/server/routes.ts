import type {
  PullAnswer,
  PushAnswer,
  WatchAnswer,
  WireChange,
  WireResult,
} from '../replication/protocol/http-answers.ts';
import { isIdTooLong, MAX_ID_BYTES, MAX_ROWS } from '../replication/protocol/http-fields.ts';
import {
  type ReceivedRow,
  readPullRequest,
  readPushRequest,
  readWatchRequest,
} from '../replication/protocol/http-requests.ts';
import { documentDefect, type WireDocument } from '../replication/protocol/wire-documents.ts';
import type { Access } from './access.ts';
import { RequestFailure } from './failures.ts';
import { ABSENT, type Store, type StoredRow, type StoreResult, type StoreRow } from './store.ts';

/** The target of a request. */
export interface ServerRoute {
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

/**
 * What Postgres, logs and headers take as it is: no control characters, no half of a surrogate
 * pair.
 */
const NAME = /^[^\p{Cc}\p{Cs}]+$/u;

/** The calls; each takes a body that nobody has checked, and returns JSON text. */
export const routes = { pull, push, watch };

/**
 * The collection and the call that a URL names: `…/orders/pull`.
 *
 * @throws {RequestFailure}
 */
export function routeOf(url: string): ServerRoute {
  const [encoded = '', name = ''] = new URL(url).pathname.split('/').slice(-2);
  const collection = decode(encoded);
  if (Object.hasOwn(routes, name) && NAME.test(collection) && collection.length <= MAX_NAME) {
    return { name: name as ServerRoute['name'], collection };
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

async function pull(body: unknown, { store, access, collection }: Ask): Promise<string> {
  const { after, limit } = readPullRequest(body);
  if (!access.canRead && store.pullText) return store.pullText(collection, after, limit);
  const page = await store.pull(collection, after, limit);
  if (!access.canRead) return JSON.stringify(page);
  const changes = [];
  for (const change of page.changes) changes.push(await visibleChange(change, access));
  return JSON.stringify({ ...page, changes } satisfies PullAnswer);
}

class Push {
  readonly #store: Store;
  readonly #collection: string;
  readonly #access: Access;

  constructor(store: Store, collection: string, access: Access) {
    this.#store = store;
    this.#collection = collection;
    this.#access = access;
  }

  /** A result for each row; `undefined` if the row was changed after its check. */
  async attempt(rows: readonly StoreRow[]): Promise<(WireResult | undefined)[]> {
    const checked = await this.#check(rows);
    const allowed = checked.filter((row) => row !== undefined);
    const made = allowed.length > 0 ? await this.#store.push(this.#collection, allowed) : [];
    const results: (WireResult | undefined)[] = [];
    let next = 0;
    for (const [index, row] of checked.entries()) {
      if (!row) results.push(NOT_ALLOWED);
      else
        results.push(
          await this.#visible((rows[index] as StoreRow).id, made[next++] as StoreResult),
        );
    }
    return results;
  }

  /**
   * The rows that the user may write, each with the version that was checked; `undefined` for the
   * others.
   */
  async #check(rows: readonly StoreRow[]): Promise<(StoreRow | undefined)[]> {
    const { canRead, canWrite } = this.#access;
    if (!canWrite && !canRead) return [...rows];
    const mayMake = async (id: string, document: unknown) => !canWrite || canWrite(id, document);
    // Nobody replaces what is hidden from him, though the pull tells its id and version.
    const mayReplace = async (id: string, document: unknown) =>
      (!canRead || (await canRead(id, document))) && mayMake(id, document);
    const checked: (StoreRow | undefined)[] = [];
    let stored = new Map<string, StoredRow>();
    for (const [index, row] of rows.entries()) {
      if (index % CHECKED_AT_ONCE === 0)
        stored = await this.#stored(rows.slice(index, index + CHECKED_AT_ONCE));
      const { id, key, document } = row;
      const present = stored.get(id);
      // A retry is answered as the first time, whatever became of the document and the user since.
      const allowed =
        present?.keys.includes(key) ||
        ((document === undefined || (await mayMake(id, document))) &&
          (!present?.document || (await mayReplace(id, present.document))));
      checked.push(allowed ? { ...row, seen: present?.version ?? ABSENT } : undefined);
    }
    return checked;
  }

  async #stored(rows: readonly StoreRow[]): Promise<Map<string, StoredRow>> {
    const ids = rows.map(({ id }) => id);
    const stored = await this.#store.read(this.#collection, ids);
    return new Map(stored.map((row) => [row.id, row]));
  }

  /** What the user may see of a result. */
  async #visible(id: string, result: StoreResult): Promise<WireResult | undefined> {
    if ('stale' in result) return undefined;
    if ('rejected' in result) return result;
    if ('conflict' in result)
      return { conflict: await visibleChange(result.conflict, this.#access) };
    const { version, document, made } = result;
    if (document === undefined) return { version };
    const { canRead } = this.#access;
    // Hidden by now: the next pull deletes it.
    if (canRead && !(await canRead(id, document))) return { version: made ?? version };
    return { version, document };
  }
}

/** How often rows are checked anew that others change between the check and the push. */
const ATTEMPTS = 8;

const TOO_BUSY: WireResult = {
  rejected: { reason: 'Others change this document all the time.', retry: true },
};

async function push(body: unknown, { store, access, collection }: Ask): Promise<string> {
  const rows = readPushRequest(body);
  if (rows.length > MAX_ROWS) {
    throw new RequestFailure(413, 'rows_too_many', `A push has at most ${MAX_ROWS} rows.`);
  }
  const results = await storePushedRows(store, collection, rows, access);
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

/** Rows whose documents are in memory at once: a small request may name large ones. */
const CHECKED_AT_ONCE = 50;

const rejected = (reason: string): WireResult => ({ rejected: { reason } });
const NOT_ALLOWED = rejected('You may not write this document.');

/** Pushes rows with the rights of a user; one result for each row. */
async function storePushedRows(
  store: Store,
  collection: string,
  rows: readonly ReceivedRow[],
  access: Access,
): Promise<WireResult[]> {
  const push = new Push(store, collection, access);
  const results = rows.map(defectOf);
  let open = rows.flatMap((row, index) => (results[index] ? [] : [{ row: toStore(row), index }]));
  for (let attempt = 0; attempt < ATTEMPTS && open.length > 0; attempt++) {
    const answers = await push.attempt(open.map(({ row }) => row));
    open = open.filter(({ index }, at) => {
      results[index] = answers[at];
      return results[index] === undefined;
    });
  }
  return results.map((result) => result ?? TOO_BUSY);
}

function toStore({ id, base, key, document }: ReceivedRow): StoreRow {
  return { id, base, key, document: document as WireDocument | undefined };
}

/** A row that no server takes. It must not keep the others of its batch from being made. */
function defectOf({ id, document }: ReceivedRow): WireResult | undefined {
  if (isIdTooLong(id)) return rejected(`The id is longer than ${MAX_ID_BYTES} bytes.`);
  const defect = document === undefined ? undefined : documentDefect(document, id);
  return defect === undefined ? undefined : rejected(`The document is invalid: ${defect}.`);
}

/** A change as a user sees it: documents that he may not read are deleted ones. */
async function visibleChange(change: WireChange, { canRead }: Access): Promise<WireChange> {
  const { id, version, document } = change;
  if (!canRead || document === undefined || (await canRead(id, document))) return change;
  return { id, version, deleted: true };
}
