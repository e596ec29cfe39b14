import type {
  LocalRow,
  Push,
  PushedRow,
  RecordState,
} from '../../engine/protocol/replica-protocol.ts';
import { evidenceOf } from '../merge/evidence.ts';
import { sameContent } from '../merge/same-content.ts';
import type { RemoteChange } from '../protocol/remote.ts';
import type { Ancestor } from './conflict-resolution.ts';
import type { RoundContext } from './round-context.ts';
import { acceptedRow, changeOf, sendRows, sentBy } from './send-rows.ts';

/** A document whose state on the server may derive from a push of this replica. */
interface Unclear {
  readonly local: LocalRow;
  readonly remote: object | undefined;
  /** Whether the server has told that it has made none of them: one that sends keys remembers them. */
  readonly isCertain: boolean;
  /** Pushes that the server may have made, oldest first. */
  readonly candidates: Push[];
}

/**
 * Finds out which pushes without an answer the server has made: by the key of its state, by its content, by a repetition
 * of the push, which the server answers as the first time. Where a server remembers no keys, the likeliest one is assumed.
 *
 * @param found Documents that have changed here and on the server.
 * @param unmade Keys of pushes that the server has refused as conflicts; others are added.
 * @returns by id, where it is another state than {@link LocalRow.base}.
 */
export async function findAncestors(
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
    const equal = pushes.find((one) => sameContent(documentOf(id, sentBy(one, local)), remote));
    const made = newest ?? (remote && equal);
    if (made) ancestors.set(id, { state: sentBy(made, local), isNewest: made === newest });
    else {
      // Others may have deleted a new document since: a push of it would make it anew.
      const candidates = context.pushes && local.version !== undefined ? [...pushes] : [];
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
    const rows = open.map(({ local }, index) => changeOf(context, local, last[index] as Push));
    const results = await sendRows(context.remote, rows);
    open = open.filter(({ local }, index) => {
      const push = last[index] as Push;
      const isMade = 'version' in (results[index] ?? {});
      if (isMade) ancestors.set(local.id, { state: sentBy(push, local) });
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
      const state = sentBy(push, local);
      const evidence = evidenceOf(remote, documentOf(id, state), before);
      if (evidence > most) ancestors.set(id, { state, isGuess: true });
      most = Math.max(evidence, most);
    }
  }
  return ancestors;
}

/**
 * Repeats the pushes of new documents that are deleted on the server: others may have deleted what was pushed, or a document
 * of that name before. Only the server can tell, and a new document is pushed now in either case.
 *
 * @returns whether it has accepted some: a pull tells what has become of them.
 */
export async function repeatNew(
  context: RoundContext,
  found: readonly LocalRow[],
  byId: ReadonlyMap<string, RemoteChange>,
  unmade: Set<string>,
): Promise<boolean> {
  const repeated = found.filter(({ id, version, state, pushes }) => {
    const change = byId.get(id);
    const [key = '', sent] = pushes.at(-1) ?? [];
    const isLast = key !== '' && sent === undefined && !unmade.has(key);
    return context.pushes && isLast && version === undefined && state && change && !change.document;
  });
  const rows = repeated.map((local) => changeOf(context, local, local.pushes.at(-1) as Push));
  const accepted: PushedRow[] = [];
  for (const [index, result] of (await sendRows(context.remote, rows)).entries()) {
    const local = repeated[index] as LocalRow;
    if ('version' in result) accepted.push(acceptedRow(context, local, result));
    else unmade.add((local.pushes.at(-1) as Push)[0]);
  }
  if (accepted.length > 0) await context.send({ op: 'replicaPushed', rows: accepted });
  return accepted.length > 0;
}
