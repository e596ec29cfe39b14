import { Mutex } from '../async/mutex.ts';
import { copy } from '../codec/capture.ts';
import { documentDefect } from '../codec/exact-json/document-defect.ts';
import { asArray, asString } from '../codec/exact-json/json-checks.ts';
import type { WireChange } from '../codec/exact-json/wire-changes.ts';
import {
  decodeDocument,
  encodeDocument,
  type WireDocument,
} from '../codec/exact-json/wire-documents.ts';
import { CairnError, Malformed } from '../errors/errors.ts';
import { checkOperators } from '../query/update/check-operators.ts';
import { compileUpdate } from '../query/update/compile-update.ts';
import type { Operation } from '../query/update/late-update.ts';
import { isOperation, MOST_OPERATIONS } from '../query/update/operations.ts';
import { applyOperations } from '../query/update/rebase.ts';
import type {
  AbilitiesAnswer,
  PullAnswer,
  PushAnswer,
  WatchAnswer,
  WireResult,
} from '../replication/protocol/http-answers.ts';
import { isIdTooLong, MAX_ID_BYTES, MAX_ROWS } from '../replication/protocol/http-fields.ts';
import {
  type ReceivedRow,
  readPullRequest,
  readPushRequest,
  readWatchRequest,
} from '../replication/protocol/http-requests.ts';
import type { Access } from './access.ts';
import { RequestFailure } from './failures.ts';
import type { HandlerFiles, SentRow } from './handler-files.ts';
import { pullScope, type RequestedScope, storedPlace } from './scopes.ts';
import {
  ABSENT,
  DOCUMENT_BYTES,
  replicaOf,
  type Store,
  type StoredRow,
  type StoreResult,
  type StoreRow,
} from './store.ts';

export interface ServerRoute {
  readonly name: keyof typeof routes | 'stream';
  readonly collection: string;
}

interface Ask {
  readonly store: Store;
  readonly access: Access;
  readonly collection: string;
  /** The scope that a body asks for. */
  readonly requestedScope: (asked: unknown) => Promise<RequestedScope>;
  /** Aborts when the client has left; not every platform has one. */
  readonly signal: AbortSignal | undefined;
  /** Milliseconds for which `watch` waits. */
  readonly hold: number;
  readonly files: HandlerFiles | undefined;
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

/** The answer to `GET`: what this server can do beyond the first protocol. */
export const ABILITIES: AbilitiesAnswer = { operations: true, stream: true, scopedStream: true };

/**
 * The collection and the call that a URL names: `…/orders/pull`.
 *
 * @throws {RequestFailure}
 */
export function routeOf(url: string): ServerRoute {
  const [encoded = '', name = ''] = new URL(url).pathname.split('/').slice(-2);
  if (!isCall(name)) throw unknownRoute();
  return { name, collection: collectionOf(encoded) };
}

function isCall(name: string): name is ServerRoute['name'] {
  return name === 'stream' || Object.hasOwn(routes, name);
}

/**
 * The collection that the URL of a `GET` names: `…/orders`; `undefined` for that of a call.
 *
 * @throws {RequestFailure}
 */
export function namedCollection(url: string): string | undefined {
  const last = new URL(url).pathname.split('/').at(-1) ?? '';
  return isCall(last) ? undefined : collectionOf(last);
}

/** @throws {RequestFailure} */
export function collectionOf(encoded: string): string {
  return knownName(decode(encoded));
}

/** @throws {RequestFailure} for what is no name of a collection. */
export function knownName(collection: string): string {
  if (NAME.test(collection) && collection.length <= MAX_NAME) return collection;
  throw unknownRoute();
}

function unknownRoute(): RequestFailure {
  return new RequestFailure(404, 'route_unknown', 'There is no such route.');
}

function decode(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return '';
  }
}

async function pull(body: unknown, ask: Ask): Promise<string> {
  const { store, access, collection } = ask;
  const { after, limit, scope } = readPullRequest(body);
  if (scope !== undefined)
    return JSON.stringify(await pullScope(ask, await ask.requestedScope(scope), after, limit));
  if (!access.canRead && store.pullText) return store.pullText(collection, after, limit);
  return JSON.stringify(await visiblePage(await store.pull(collection, after, limit), access));
}

/** A page as a user sees it. */
export async function visiblePage(page: PullAnswer, access: Access): Promise<PullAnswer> {
  if (!access.canRead) return page;
  const changes = [];
  for (const change of page.changes) changes.push(await visibleChange(change, access));
  return { ...page, changes };
}

/** A row, with the operations that it consists of. */
interface PushedRow {
  readonly row: SentRow;
  readonly operations: readonly Operation[] | undefined;
}

class Push {
  readonly #store: Store;
  readonly #collection: string;
  readonly #access: Access;
  readonly #files: HandlerFiles | undefined;

  constructor(store: Store, collection: string, access: Access, files: HandlerFiles | undefined) {
    this.#files = files;
    this.#store = store;
    this.#collection = collection;
    this.#access = access;
  }

  /** A result for each row; `undefined` if the row was changed after its check. */
  async attempt(rows: readonly PushedRow[]): Promise<(WireResult | undefined)[]> {
    const results = await this.#make(rows.map(({ row }) => row));
    const merging = [...rows.entries()].filter(
      ([index, { operations }]) => operations && 'conflict' in (results[index] as StoreResult),
    );
    if (merging.length > 0)
      await inTurn(this.#store, this.#collection, () => this.#mergeAll(merging, results));
    const visible: (WireResult | undefined)[] = [];
    for (const [index, { row }] of rows.entries())
      visible.push(await this.#visible(row.id, results[index] as StoreResult));
    return visible;
  }

  /** Replaces the results of rows whose operations can be applied to what the store has. */
  async #mergeAll(
    merging: readonly (readonly [index: number, row: PushedRow])[],
    results: StoreResult[],
  ): Promise<void> {
    for (let from = 0; from < merging.length; from += CHECKED_AT_ONCE) {
      const some = merging.slice(from, from + CHECKED_AT_ONCE);
      const stored = await this.#stored(some.map(([, { row }]) => row));
      for (const [index, { row, operations = [] }] of some) {
        const merged = await this.#merge(row, operations, stored.get(row.id));
        if (merged) results[index] = merged;
      }
    }
  }

  async #make(rows: readonly SentRow[]): Promise<StoreResult[]> {
    const allowed: StoreRow[] = [];
    const refusals: (StoreResult | undefined)[] = [];
    for (const row of await this.#check(rows)) {
      const refusal = row ? await this.#filesRefuse(row) : NOT_ALLOWED;
      refusals.push(refusal);
      if (!row || refusal) continue;
      const { device: _, ...stored } = row;
      allowed.push(stored);
    }
    const made = allowed.length > 0 ? await this.#store.push(this.#collection, allowed) : [];
    let next = 0;
    return refusals.map((refusal) => refusal ?? (made[next++] as StoreResult));
  }

  /** A refusal where a document may not name the files that it names. */
  async #filesRefuse(row: SentRow): Promise<StoreResult | undefined> {
    const { canRead } = this.#access;
    const [documents, collection] = [this.#store, this.#collection];
    const reason = await this.#files?.refusal({ documents, collection, canRead, row });
    if (reason === undefined) return undefined;
    // A retry is answered as the first time, whatever became of its files.
    const stored = (await this.#stored([row])).get(row.id);
    return stored?.keys.includes(row.key) ? undefined : rejected(reason, true);
  }

  /** Applies operations to what the store has; `undefined` where the conflict stays. */
  async #merge(
    { id, ...row }: SentRow,
    operations: readonly Operation[],
    stored: StoredRow | undefined,
  ): Promise<StoreResult | undefined> {
    const document = stored && mergedDocument({ id, ...row }, operations, stored);
    if (!document) return undefined;
    const { version } = stored;
    const [result] = await this.#make([
      { ...{ id, document, key: row.key, device: row.device }, base: version, seen: version },
    ]);
    // Others may have been quicker, and what is refused is the merged document.
    if (!result || 'conflict' in result) return { stale: true };
    return 'version' in result && !result.document ? { ...result, document } : result;
  }

  /**
   * The rows that the user may write, each with the version that was checked; `undefined` for the
   * others.
   */
  async #check(rows: readonly SentRow[]): Promise<(SentRow | undefined)[]> {
    const { canRead, canWrite } = this.#access;
    if (!canWrite && !canRead) return [...rows];
    const mayMake = async (id: string, document: unknown) => !canWrite || canWrite(id, document);
    // Nobody replaces what is hidden from him, though the pull tells its id and version.
    const mayReplace = async (id: string, document: unknown) =>
      (!canRead || (await canRead(id, document))) && mayMake(id, document);
    const checked: (SentRow | undefined)[] = [];
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
      checked.push(allowed ? { seen: present?.version ?? ABSENT, ...row } : undefined);
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

/** What merges documents of collections now. */
const merges = new WeakMap<Store, Map<string, Mutex>>();

/**
 * Runs one task of a collection after the other: requests that all count in one document would
 * else overtake each other, and be made anew.
 */
async function inTurn(store: Store, collection: string, task: () => Promise<void>): Promise<void> {
  const turns = merges.get(store) ?? new Map<string, Mutex>();
  merges.set(store, turns);
  const turn = turns.get(collection) ?? new Mutex();
  turns.set(collection, turn);
  try {
    await turn.run(task);
  } finally {
    if (!turn.held) turns.delete(collection);
  }
}

/** How often rows are checked anew that others change between the check and the push. */
const ATTEMPTS = 8;

const TOO_BUSY: WireResult = {
  rejected: { reason: 'Others change this document all the time.', retry: true },
};

async function push(body: unknown, { store, access, collection, files }: Ask): Promise<string> {
  const rows = readPushRequest(body);
  if (rows.length > MAX_ROWS) {
    throw new RequestFailure(413, 'rows_too_many', `A push has at most ${MAX_ROWS} rows.`);
  }
  const results = await storePushedRows(new Push(store, collection, access, files), rows);
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
    const changed = await store.watch(collection, storedPlace(after), ended.signal);
    return JSON.stringify({ changed } satisfies WatchAnswer);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
  }
}

/** Rows whose documents are in memory at once: a small request may name large ones. */
const CHECKED_AT_ONCE = 50;

const rejected = (reason: string, retry?: true) => ({
  rejected: { reason, ...(retry && { retry }) },
});
const NOT_ALLOWED = rejected('You may not write this document.');

/** Pushes rows with the rights of a user; one result for each row. */
async function storePushedRows(push: Push, rows: readonly ReceivedRow[]): Promise<WireResult[]> {
  const results: (WireResult | undefined)[] = [];
  let open: (PushedRow & { readonly index: number })[] = [];
  for (const [index, row] of rows.entries()) {
    const read = readRow(row);
    if ('row' in read) open.push({ index, ...read });
    else results[index] = read;
  }
  for (let attempt = 0; attempt < ATTEMPTS && open.length > 0; attempt++) {
    const answers = await push.attempt(open);
    open = open.filter(({ index }, at) => {
      results[index] = answers[at];
      return results[index] === undefined;
    });
  }
  return rows.map((_, index) => results[index] ?? TOO_BUSY);
}

/** One that no server takes is a result: the others of its batch are made nevertheless. */
function readRow({
  id,
  base,
  key,
  document,
  operations,
  device,
}: ReceivedRow): PushedRow | WireResult {
  if (isIdTooLong(id)) return rejected(`The id is longer than ${MAX_ID_BYTES} bytes.`);
  const defect = document === undefined ? undefined : documentDefect(document, id);
  if (defect !== undefined) return rejected(`The document is invalid: ${defect}.`);
  try {
    return {
      row: { id, base, key, device, document: document as WireDocument | undefined },
      operations: operations === undefined ? undefined : readOperations(operations, id),
    };
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    return rejected(`The operations are invalid: ${error.message}.`);
  }
}

/** A change as a user sees it: documents that he may not read are deleted ones. */
async function visibleChange(change: WireChange, { canRead }: Access): Promise<WireChange> {
  const { id, version, document } = change;
  if (!canRead || document === undefined || (await canRead(id, document))) return change;
  return { id, version, deleted: true };
}

/**
 * The operations of a row, which anybody may have sent.
 *
 * @throws {Malformed}
 */
function readOperations(wire: unknown, id: string): readonly Operation[] {
  const list = asArray(wire, '"operations"');
  if (list.length > MOST_OPERATIONS)
    throw new Malformed(`there are over ${MOST_OPERATIONS} operations`);
  const { operations } = decodeDocument({ _id: id, operations: list }, id) as {
    readonly operations: readonly unknown[];
  };
  return operations.map((value) => {
    const [name, path, operand] = asArray(value, 'an operation');
    const operation = [
      asString(name, 'the operator'),
      asString(path, 'the path'),
      operand,
    ] as const;
    if (!isOperation(operation))
      throw new Malformed(`${operation[0].slice(0, 50)} is no operation`);
    try {
      checkOperators({ [operation[0]]: { [operation[1]]: operand } }, false);
    } catch (error) {
      if (error instanceof CairnError) throw new Malformed(error.message.slice(0, 500));
      throw error;
    }
    return operation;
  });
}

/**
 * Values in a document times those in its operations that a server applies: some take the product
 * of both, as `$pull` does, and one request must not keep the others waiting.
 */
const MOST_WORK = 5_000_000;

/** A long bigint counts as its parts: to multiply two takes the product of both. */
function valuesIn(json: string): number {
  const long = json.match(/"\$bigint":"-?[0-9a-f]{32,}/g) ?? [];
  return json.split(',').length + long.join('').length / 16;
}

/**
 * The document that operations make of what a server has, for a row that was made on another
 * state.
 *
 * @returns `undefined` where they cannot be applied, may have been already, or cost too much: the
 *   device merges the document then.
 */
export function mergedDocument(
  { id, base, key, document }: StoreRow,
  operations: readonly Operation[],
  { document: present, keys, versions = [] }: StoredRow,
): WireDocument | undefined {
  const since = versions.indexOf(base as string);
  // One that is older than what is remembered, or was pushed again under another key.
  const isOnce =
    since > 0 && !keys.slice(0, since).some((one) => replicaOf(one) === replicaOf(key));
  if (!isOnce || !present || !document) return undefined;
  const count = valuesIn(JSON.stringify(encodeDocument({ operations })));
  if ((valuesIn(JSON.stringify(present)) + count) * count > MOST_WORK) return undefined;
  // A copy: what JSON holds as it is would be changed in the store.
  const fields = copy(decodeDocument(present, id)) as Record<string, unknown>;
  if (applyOperations(fields, operations, compileChecked).length > 0) return undefined;
  takeManaged(fields, decodeDocument(document, id));
  try {
    const merged = encodeDocument(fields);
    const isTooLarge = JSON.stringify(merged).length > DOCUMENT_BYTES;
    return isTooLarge || documentDefect(merged, id) ? undefined : merged;
  } catch (error) {
    if (error instanceof CairnError) return undefined;
    throw error;
  }
}

const compileChecked = (changes: object) => compileUpdate(checkOperators(changes, false));

/** The later time of an update, and that there was one. */
function takeManaged(fields: Record<string, unknown>, pushed: object): void {
  const { _updated, _updated_at: at } = pushed as Record<string, unknown>;
  if (_updated === true) fields._updated = true;
  const before = fields._updated_at;
  if (at instanceof Date && !(before instanceof Date && before > at)) fields._updated_at = at;
}
