import { inSlices } from '../../async/next-turn.ts';
import { isPlainObject } from '../../codec/kinds.ts';
import { ReplicationError } from '../../errors/replication-error.ts';
import type { RecordState } from '../../protocol/record-states.ts';
import type {
  LocalRow,
  Push,
  PushedRow,
  RebasedStates,
  RemoteRow,
} from '../../protocol/replica-protocol.ts';
import { sameContent } from '../merge-fields.ts';
import type { RemoteChange } from '../protocol/remote.ts';
import type { Ancestor, Conflict } from './conflict-resolution.ts';
import { invalid } from './remote-calls.ts';
import type { RoundContext } from './round-context.ts';
import { acceptedRow, changeOf, sendRows, sentBy } from './send-rows.ts';

/** The end of a page that is applied together with its rows. */
export interface PulledEnd {
  /** The id of the scope of the page. */
  readonly scope?: string | undefined;
  readonly after?: string | undefined;
  readonly checkpoint?: string | undefined;
  readonly kept?: readonly string[] | undefined;
}

/** States of the server, ready to be applied. */
export interface ReadyRows {
  /** A server may send a document twice: the later state is the newer one. */
  readonly byId: ReadonlyMap<string, RemoteChange>;
  readonly rows: readonly RemoteRow[];
}

/** @throws {ReplicationError} `answer_invalid` for a document that cannot be stored. */
export async function readyRows(
  context: RoundContext,
  changes: Iterable<RemoteChange>,
): Promise<ReadyRows> {
  const byId = new Map<string, RemoteChange>();
  for (const change of changes) byId.set(change.id, change);
  const rows: RemoteRow[] = [];
  await inSlices(context.clock, byId.values(), (change) => rows.push(rowOf(context, change)));
  return { byId, rows };
}

/**
 * Applies states of the server, and resolves those that conflict with local changes. Repeats that
 * where a document changes meanwhile. Reports the conflicts.
 *
 * @param unmade Keys of pushes that the server has not made.
 * @returns whether they are applied: where not, the server has made others meanwhile, and they are
 *   to be pulled anew.
 */
export async function applyRows(
  context: RoundContext,
  { byId, rows: all }: ReadyRows,
  end: PulledEnd = {},
  unmade = new Set<string>(),
): Promise<boolean> {
  const conflicts = new Map<string, Conflict | undefined>();
  /** What is stored in the end. */
  const stored = new Map(all.map(({ id, state }) => [id, state]));
  let sent: readonly Conflict[] = [];
  try {
    for (let rows = all; ; ) {
      sent = [...conflicts.values()].filter((one) => one !== undefined);
      const found = await context.send({ op: 'replicaApply', rows, ...end });
      if (found.length === 0) {
        reportDefects(context, all, byId);
        await reportRefused(context, stored);
        return true;
      }
      if (await repeatNew(context, found, byId, unmade)) return false;
      const ancestors = await findAncestors(context, found, byId, unmade);
      const resolved: RemoteRow[] = [];
      for (const local of found) {
        const change = byId.get(local.id);
        // One that the server does not have, after a reset.
        const gone: RemoteRow = { id: local.id, version: undefined, state: undefined };
        const theirs = change ? rowOf(context, change) : gone;
        const ancestor = ancestors.get(local.id);
        const rebased = await rebasedOn(context, theirs, local, ancestor);
        const { row, conflict } = await context.conflicts.resolve(theirs, local, ancestor, rebased);
        resolved.push(row);
        conflicts.set(local.id, conflict);
        stored.set(local.id, row.resolution?.result);
      }
      rows = resolved;
    }
  } finally {
    // Without an answer too: the engine may have applied them before it was lost.
    if (sent.length > 0) context.events.conflicts(sent);
  }
}

/** The states with the operations applied that a document was changed by. */
async function rebasedOn(
  context: RoundContext,
  { id, state: remote }: RemoteRow,
  local: LocalRow,
  ancestor: Ancestor | undefined,
): Promise<RebasedStates | undefined> {
  if (!local.operations || !remote) return undefined;
  return context.send({
    ...{ op: 'replicaRebase', id, remote, push: ancestor?.push },
    needs: ['updates'],
  });
}

function reportDefects(
  { events }: RoundContext,
  rows: readonly RemoteRow[],
  byId: ReadonlyMap<string, RemoteChange>,
): void {
  for (const { id } of rows) {
    const defect = byId.get(id)?.defect;
    if (defect === undefined) continue;
    const message = `Document "${id}" is not as it was written: ${defect}. It is stored as it came.`;
    events.invalid(id, new ReplicationError('value_lost', message, { place: id }));
  }
}

/**
 * Reports what the schema refuses. It is stored all the same, as the server has it: a replica that
 * left it out, or changed it, would never equal the server, and would push what its schema has
 * removed.
 */
export async function reportRefused(
  { schema, codec, clock, events }: RoundContext,
  stored: Iterable<readonly [id: string, RecordState | undefined]>,
): Promise<void> {
  if (!schema) return;
  await inSlices(clock, stored, ([id, state]) => {
    const error = state && schema.refusalOf(codec.toDocument(id, state));
    if (error) events.invalid(id, error);
  });
}

function rowOf({ codec }: RoundContext, change: RemoteChange): RemoteRow {
  const { id, version, document, left = false } = change;
  if (!document) return { id, version, state: undefined, left };
  try {
    return { id, version, state: codec.toState(document as never) };
  } catch (cause) {
    throw invalid(`it cannot be stored: ${(cause as Error).message}`, id, cause);
  }
}

/** A document whose state on the server may derive from a push of this replica. */
interface Unclear {
  readonly local: LocalRow;
  readonly remote: object | undefined;
  /**
   * Whether the server has said that it has made none of them: one that sends keys remembers them.
   */
  readonly isCertain: boolean;
  /** Pushes that the server may have made, oldest first. */
  readonly candidates: Push[];
}

/** Managed values that say nothing: many documents have the same. */
const COMMON: ReadonlySet<string> = new Set(['_id', '_updated', '_archived']);

/** A field that is missing tells less than a value. */
const MISSING_WEIGHT = 0.001;

/**
 * Finds out which pushes without an answer the server has made: by the key of its state, by its
 * content, by a repetition of the push, which the server answers as the first time. Where a server
 * remembers no keys, the likeliest one is assumed.
 *
 * @param found Documents that have changed here and on the server.
 * @param unmade Keys of pushes that the server has refused as conflicts; others are added.
 * @returns by id, where it is another state than {@link LocalRow.base}.
 */
async function findAncestors(
  context: RoundContext,
  found: readonly LocalRow[],
  byId: ReadonlyMap<string, RemoteChange>,
  unmade: Set<string>,
): Promise<Map<string, Ancestor>> {
  const ancestors = new Map<string, Ancestor>();
  const documentOf = (id: string, state: RecordState | undefined) =>
    state && context.codec.toDocument(id, state);
  let open: Unclear[] = [];
  for (const local of found) {
    const { id, pushes } = local;
    const change = byId.get(id);
    if (pushes.length === 0 || !change) continue;
    const remote = change.document ?? undefined;
    const newest = pushes.find(([key]) => change.key === `${context.replica}.${key}`);
    // Others may have counted as far.
    const isCounted = local.operations !== undefined;
    const equal = isCounted
      ? undefined
      : pushes.findLast((one) => sameContent(documentOf(id, sentBy(one, local)), remote));
    // Others may have deleted what a later push has made.
    const made = newest ?? (remote || equal === pushes.at(-1) ? equal : undefined);
    if (made) {
      // The server may have applied operations to what others have made.
      const isNewest = made === newest && !local.operations?.[made[0]]?.sent;
      ancestors.set(id, { ...ancestorOf(made, local), isNewest });
    } else {
      // Others may have deleted a new document since: a push of it would make it anew.
      const isThere = local.version !== undefined || (remote && isCounted);
      const candidates = context.pushes && isThere ? [...pushes] : [];
      const isCertain = change.key !== undefined && candidates.length === pushes.length;
      open.push({ local, remote, isCertain, candidates });
    }
  }
  const unclear = open;
  for (;;) {
    for (const { candidates } of open)
      while (unmade.has(candidates.at(-1)?.[0] ?? '')) candidates.pop();
    open = open.filter(({ candidates }) => candidates.length > 0);
    if (open.length === 0) break;
    const last = open.map(({ candidates }) => candidates.at(-1) as Push);
    // Asks alone: what operations would make now may be replaced here since.
    const rows = open.map(({ local }, index) => ({
      ...changeOf(context, local, last[index] as Push),
      operations: undefined,
    }));
    const results = await sendRows(context, rows);
    open = open.filter(({ local }, index) => {
      const push = last[index] as Push;
      const isMade = 'version' in (results[index] ?? {});
      if (isMade) ancestors.set(local.id, ancestorOf(push, local));
      else unmade.add(push[0]);
      return !isMade;
    });
  }
  for (const { local, remote, isCertain } of unclear) {
    const { id, base, pushes } = local;
    if (ancestors.has(id) || isCertain) continue;
    const before = documentOf(id, base);
    let most = 0;
    for (const push of pushes) {
      const ancestor = ancestorOf(push, local);
      const evidence = evidenceOf(remote, documentOf(id, ancestor.state), before);
      if (evidence > most) ancestors.set(id, { ...ancestor, isGuess: true });
      most = Math.max(evidence, most);
    }
  }
  return ancestors;
}

function ancestorOf(push: Push, local: LocalRow): Ancestor {
  return { state: sentBy(push, local), push: push[0] };
}

/**
 * Repeats the pushes of new documents that are deleted on the server: others may have deleted what
 * was pushed, or a document of that name before. Only the server can tell, and a new document is
 * pushed now in either case.
 *
 * @returns whether it has accepted some: a pull tells what has become of them.
 */
async function repeatNew(
  context: RoundContext,
  found: readonly LocalRow[],
  byId: ReadonlyMap<string, RemoteChange>,
  unmade: Set<string>,
): Promise<boolean> {
  const repeated = found.filter(({ id, version, state, pushes }) => {
    const change = byId.get(id);
    const [key = '', sent] = pushes.at(-1) ?? [];
    // Others may have seen, and deleted, what an earlier push of it has made.
    const isFirst = (pushes.at(-2)?.[1] ?? null) === null;
    const isLast = key !== '' && sent === undefined && !unmade.has(key);
    return (
      context.pushes &&
      isFirst &&
      isLast &&
      version === undefined &&
      state &&
      change &&
      !change.document
    );
  });
  const rows = repeated.map((local) => changeOf(context, local, local.pushes.at(-1) as Push));
  const accepted: PushedRow[] = [];
  for (const [index, result] of (await sendRows(context, rows)).entries()) {
    const local = repeated[index] as LocalRow;
    if ('version' in result) accepted.push(acceptedRow(context, local, result));
    else unmade.add((local.pushes.at(-1) as Push)[0]);
  }
  if (accepted.length > 0) await context.send({ op: 'replicaPushed', rows: accepted });
  return accepted.length > 0;
}

/**
 * How many fields of a document are as a push has left them, and not as they were before; less
 * those that are as before. Above 0, the document rather derives from the push.
 */
function evidenceOf(document: unknown, pushed: unknown, before: unknown): number {
  if (!isPlainObject(document))
    return Number(sameContent(document, pushed)) - Number(sameContent(document, before));
  let evidence = 0;
  for (const key of new Set([document, pushed, before].flatMap((one) => Object.keys(one ?? {})))) {
    if (COMMON.has(key)) continue;
    const [value, ...others] = [document, pushed, before].map((one) => fieldOf(one, key));
    const weight = value === undefined ? MISSING_WEIGHT : 1;
    evidence += weight * evidenceOf(value, ...(others as [unknown, unknown]));
  }
  return evidence;
}

function fieldOf(fields: unknown, key: string): unknown {
  return isPlainObject(fields) && Object.hasOwn(fields, key)
    ? (fields as Record<string, unknown>)[key]
    : undefined;
}
