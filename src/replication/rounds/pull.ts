import { nextTurn } from '../../async/next-turn.ts';
import type { RemoteColumns, ScopeState } from '../../protocol/replica-protocol.ts';
import { type PulledPage, plainBody } from '../protocol/remote.ts';
import {
  applyRows,
  type PulledEnd,
  type ReadyRows,
  readyRows,
  reportRefused,
  withRows,
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
  let after: unknown = stored === undefined ? undefined : JSON.parse(stored);
  let fetching = fetchPage(context, after, scope, isFirst);
  /** The ids of the new history, while the old one is being replaced. */
  let ids: Set<string> | undefined;
  /** Rows that a unique index has refused so far. */
  let held: ReadyRows | undefined;
  for (;;) {
    const { page, rows: fetched } = await fetching;
    const rows = held && !page.reset ? joined(held, await withRows(context, fetched)) : fetched;
    const { changes, more, rejected = [] } = page;
    if (page.reset) ids = new Set();
    if (ids) for (const { id, document } of changes) if (document) ids.add(id);
    for (const { id } of rejected) ids?.add(id);
    const next = checkpointOf(page.checkpoint);
    if (more && next === JSON.stringify(after))
      throw invalid('pull() returned more: true with the checkpoint that it was given');
    after = page.checkpoint;
    if (more) {
      // Under way while this page is saved.
      fetching = fetchPage(context, after, scope, isFirst);
      fetching.catch(() => undefined);
    }
    const isKept = !ids || !more;
    const part = { scope: scope?.id };
    const end = isKept ? { ...part, after: from, checkpoint: next, kept: ids && [...ids] } : part;
    const applying = applyPage(context, rows, end);
    const mayWait = more && rows.byId.size < MOST_HELD;
    const isApplied = await (mayWait ? unlessTaken(applying) : applying);
    if (isApplied === false) return pull(context, from, scope);
    held = isApplied ? undefined : await withRows(context, rows);
    await context.files?.incoming(
      // Plain ones name no file.
      changes.flatMap((change) => (plainBody(change) === undefined ? [change.document] : [])),
    );
    if (changes.length > 0) context.events.pulled(changes.length);
    for (const { id, reason } of rejected) context.events.rejected(id, reason);
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

async function fetchPage(
  context: RoundContext,
  after: unknown,
  scope: ScopeState | undefined,
  isFirst: boolean,
): Promise<{ readonly page: PulledPage<unknown>; readonly rows: ReadyRows }> {
  const { held } = context;
  const how = { scope: scope && JSON.parse(scope.name), held, isFirst };
  const page = await context.remote.pull(after, how);
  // A task must not last long where a page paints.
  if (page.changes.length > LONG) await nextTurn();
  return { page, rows: await readyRows(context, page.changes, isFirst && page.isLong) };
}

/** Adds the documents of a first pull. @returns whether none of them was known here. */
async function fill(
  { send }: RoundContext,
  columns: RemoteColumns,
  { after, checkpoint, kept }: PulledEnd,
): Promise<boolean> {
  if (checkpoint === undefined || kept) return false;
  return send({ op: 'replicaFill', columns, after, checkpoint });
}

/** Where it ends in the middle, the page comes again. @returns as {@link applyRows}. */
async function applyPage(
  context: RoundContext,
  ready: ReadyRows,
  end: PulledEnd,
): Promise<boolean> {
  const { columns } = ready;
  const isFilled = columns !== undefined && (await fill(context, columns, end));
  if (isFilled && !context.schema) return true;
  const { byId, rows } = columns ? await withRows(context, ready) : ready;
  if (isFilled) {
    await reportRefused(
      context,
      rows.map(({ id, state }) => [id, state] as const),
    );
    return true;
  }
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
