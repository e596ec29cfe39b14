import { nextTurn } from '../../async/next-turn.ts';
import type { ScopeState } from '../../protocol/replica-protocol.ts';
import type { PackedPage, PulledPage, RemoteChange } from '../protocol/remote.ts';
import {
  applyRows,
  type PulledEnd,
  type ReadyRows,
  readyRows,
  reportRefused,
} from './apply-rows.ts';
import { invalid, PULL_LIMIT } from './remote-calls.ts';
import type { RoundContext } from './round-context.ts';

/** A longer page is read in two tasks. */
const LONG = 100;

/** So many documents wait for later ones, at most. */
const MOST_HELD = 10_000;

/**
 * Pulls the server's changes to the end, page by page. Each page is applied with its checkpoint in
 * one write; of a longer page than requested, the last rows are.
 *
 * After a reset the checkpoint of the old history stays until all documents of the new one are
 * here; then the others are removed. A crash in between begins anew.
 *
 * @param stored The stored checkpoint, as JSON.
 * @param isFirst Whether nothing of the server is here.
 * @returns the new one.
 */
export async function pull(
  context: RoundContext,
  stored: string | undefined,
  scope?: ScopeState,
  isFirst = false,
): Promise<string> {
  let from = stored;
  const pages = new PageReader(context, stored, scope, isFirst);
  /** The ids of the new history, while the old one is being replaced. */
  let ids: Set<string> | undefined;
  /** Rows that a unique index has refused so far. */
  let held: ReadyRows | undefined;
  for (; ; pages.next()) {
    const arrived = await pages.arrived;
    if ('packed' in arrived && !held && !ids && (await fill(context, arrived, from))) {
      from = checkpointOf(arrived.checkpoint);
      if (!arrived.more) return from;
      continue;
    }
    const { page, rows: fetched } = 'packed' in arrived ? await pages.unpack(arrived) : arrived;
    const rows = held && !page.reset ? joined(held, fetched) : fetched;
    const { changes, more, rejected = [] } = page;
    if (page.reset) ids = new Set();
    if (ids) for (const { id } of changes) ids.add(id);
    for (const { id } of rejected) ids?.add(id);
    const next = checkpointOf(page.checkpoint);
    const isKept = !ids || !more;
    const part = { scope: scope?.id };
    const end = isKept ? { ...part, after: from, checkpoint: next, kept: ids && [...ids] } : part;
    const applying = applyPage(context, rows, end);
    const mayWait = more && rows.byId.size < MOST_HELD;
    const isApplied = await (mayWait ? unlessTaken(applying) : applying);
    if (isApplied === false) return pull(context, from, scope);
    held = isApplied ? undefined : rows;
    await report(context, page, changes);
    if (isKept && !held) from = next;
    if (!more) return next;
  }
}

/**
 * Pulls each scope to the end, and removes the documents that none has by now.
 *
 * @returns the scopes with their checkpoints.
 */
export async function pullScopes(
  context: RoundContext,
  scopes: readonly ScopeState[],
): Promise<readonly ScopeState[]> {
  const pulled: ScopeState[] = [];
  for (const scope of scopes)
    pulled.push({ ...scope, checkpoint: await pull(context, scope.checkpoint, scope) });
  await context.send({ op: 'replicaSweep' });
  return pulled;
}

/** A page, ready to be applied. */
interface Fetched {
  readonly page: PulledPage<unknown>;
  readonly rows: ReadyRows;
}

/** A page under way. */
interface Fetching {
  /** Where it begins, as JSON. */
  readonly after: string | undefined;
  readonly arrived: Promise<Fetched | PackedPage>;
  /** The same, once it has. */
  page?: PulledPage<unknown> | PackedPage;
}

/**
 * Fetches one page after the other: the next one is under way while one is saved, of packed ones
 * the next two, as the engine reads one meanwhile.
 */
class PageReader {
  readonly #context: RoundContext;
  readonly #fetch: (after: unknown) => Promise<PulledPage<unknown> | PackedPage>;
  /** The one that is read, and those behind it. */
  #pages: Fetching[];

  constructor(
    context: RoundContext,
    after: string | undefined,
    scope: ScopeState | undefined,
    isFirst: boolean,
  ) {
    const how = { scope: scope && JSON.parse(scope.name), held: context.held };
    this.#context = context;
    this.#fetch = (at) => context.remote.pull(at, how, isFirst);
    this.#pages = [this.#start(after)];
  }

  /** The page that is read. */
  get arrived(): Promise<Fetched | PackedPage> {
    return (this.#pages[0] as Fetching).arrived;
  }

  /** Goes on to the next one. */
  next(): void {
    this.#pages.shift();
    this.#goOn();
  }

  /** The page that is read as an ordinary one, or what the server has sent in its place. */
  async unpack(packed: PackedPage): Promise<Fetched> {
    const page = await this.#context.remote.unpack(packed);
    if (page.checkpoint !== packed.checkpoint) this.#pages.length = 1;
    (this.#pages[0] as Fetching).page = page;
    this.#goOn();
    return this.#ready(page);
  }

  #goOn(): void {
    const { page, after } = this.#pages.at(-1) as Fetching;
    if (!page?.more) return;
    const next = checkpointOf(page.checkpoint);
    if (next === after)
      throw invalid('pull() returned more: true with the checkpoint that it was given');
    if (this.#pages.length < ('packed' in page ? 3 : 2)) this.#pages.push(this.#start(next));
  }

  #start(after: string | undefined): Fetching {
    const fetch = async () => {
      const page = await this.#fetch(after && JSON.parse(after));
      fetching.page = page;
      this.#goOn();
      if (!('packed' in page)) return this.#ready(page);
      await this.#context.send({ op: 'replicaRead', packed: page.packed, after });
      return page;
    };
    const fetching: Fetching = { after, arrived: fetch() };
    // It is thrown in its turn, if ever.
    fetching.arrived.catch(() => undefined);
    return fetching;
  }

  async #ready(page: PulledPage<unknown>): Promise<Fetched> {
    // A task must not last long where a page paints.
    if (page.changes.length > LONG) await nextTurn();
    return { page, rows: await readyRows(this.#context, page.changes) };
  }
}

/** Adds the documents of a packed page. @returns whether none of them was known here. */
async function fill(
  context: RoundContext,
  page: PackedPage,
  after: string | undefined,
): Promise<boolean> {
  const checkpoint = checkpointOf(page.checkpoint);
  let changes: readonly RemoteChange[] = [];
  // Ahead: what fails here must not have been stored without its report.
  if (context.schema || context.files) {
    const unpacked = await context.remote.unpack(page);
    if (unpacked.checkpoint !== page.checkpoint) return false;
    ({ changes } = unpacked);
  }
  const { rows } = await readyRows(context, changes);
  const count = await context.send({ op: 'replicaFill', after, checkpoint });
  if (count === undefined) return false;
  await reportRefused(
    context,
    rows.map(({ id, state }) => [id, state] as const),
  );
  await report(context, page, changes, count);
  return true;
}

/** Reports a page that is stored. */
async function report(
  { files, events }: RoundContext,
  { rejected = [] }: Pick<PulledPage<unknown>, 'rejected'>,
  changes: readonly RemoteChange[],
  count = changes.length,
): Promise<void> {
  await files?.incoming(changes.map(({ document }) => document));
  if (count > 0) events.pulled(count);
  for (const { id, reason } of rejected) events.rejected(id, reason);
}

/** Where it ends in the middle, the page comes again. @returns as {@link applyRows}. */
async function applyPage(
  context: RoundContext,
  { byId, rows }: ReadyRows,
  end: PulledEnd,
): Promise<boolean> {
  let from = 0;
  for (; rows.length - from > PULL_LIMIT; from += PULL_LIMIT) {
    const part = { byId, rows: rows.slice(from, from + PULL_LIMIT) };
    const isApplied = await unlessTaken(applyRows(context, part, { scope: end.scope }));
    if (isApplied === false) return false;
    if (!isApplied) break;
  }
  return applyRows(context, { byId, rows: rows.slice(from) }, end);
}

/** `undefined` where a unique index refuses documents: later ones may make room for them. */
function unlessTaken<T>(applying: Promise<T>): Promise<T | undefined> {
  return applying.catch((error: { code?: string }) => {
    if (error.code !== 'unique_violation') throw error;
    return undefined;
  });
}

/** The rows of two pages. */
function joined(before: ReadyRows, { byId, rows }: ReadyRows): ReadyRows {
  return {
    byId: new Map([...before.byId, ...byId]),
    rows: [...before.rows.filter(({ id }) => !byId.has(id)), ...rows],
  };
}

function checkpointOf(checkpoint: unknown): string {
  let json: string | undefined;
  let cause: unknown;
  try {
    json = JSON.stringify(checkpoint);
  } catch (error) {
    cause = error;
  }
  if (json === undefined) throw invalid('its checkpoint is no JSON', undefined, cause);
  return json;
}
