import type { RecordState, RemoteRow } from '../../engine/protocol/replica-protocol.ts';
import { ReplicationError } from '../../errors/replication-error.ts';
import type { RemoteChange } from '../protocol/remote.ts';
import type { Conflict } from './conflict-resolution.ts';
import { findAncestors, repeatNew } from './find-ancestors.ts';
import { invalid } from './remote-calls.ts';
import type { RoundContext } from './round-context.ts';

/** The end of a page that is applied together with its rows. */
export interface PageEnd {
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
export function readyRows(context: RoundContext, changes: readonly RemoteChange[]): ReadyRows {
  const byId = new Map(changes.map((change) => [change.id, change]));
  return { byId, rows: Array.from(byId.values(), (change) => rowOf(context, change)) };
}

/**
 * Applies states of the server, and resolves those that conflict with local changes. Repeats that where a document changes
 * meanwhile. Reports the conflicts.
 *
 * @param unmade Keys of pushes that the server has not made.
 * @returns whether they are applied: where not, the server has made others meanwhile, and they are to be pulled anew.
 */
export async function applyRows(
  context: RoundContext,
  { byId, rows: all }: ReadyRows,
  end: PageEnd = {},
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
        reportDefects(context, byId);
        reportRefused(context, stored);
        return true;
      }
      if (await repeatNew(context, found, byId, unmade)) return false;
      const ancestors = await findAncestors(context, found, byId, unmade);
      const resolved: RemoteRow[] = [];
      for (const local of found) {
        const change = byId.get(local.id);
        // One that the server does not have, after a reset.
        const gone: RemoteRow = { id: local.id, version: undefined, state: undefined };
        const { row, conflict } = await context.conflicts.resolve(
          change ? rowOf(context, change) : gone,
          local,
          ancestors.get(local.id),
        );
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

function reportDefects({ events }: RoundContext, byId: ReadonlyMap<string, RemoteChange>): void {
  for (const { id, defect } of byId.values()) {
    if (defect === undefined) continue;
    const message = `Document "${id}" is not as it was written: ${defect}. It is stored as it came.`;
    events.invalid(id, new ReplicationError('value_lost', message, { place: id }));
  }
}

/**
 * Reports what the schema refuses. It is stored all the same, as the server has it: a replica that left it out, or changed
 * it, would never equal the server, and would push what its schema has removed.
 */
function reportRefused(
  { schema, codec, events }: RoundContext,
  stored: ReadonlyMap<string, RecordState | undefined>,
): void {
  if (!schema) return;
  for (const [id, state] of stored) {
    const error = state && schema.refusalOf(codec.toDocument(id, state));
    if (error) events.invalid(id, error);
  }
}

function rowOf({ codec }: RoundContext, { id, version, document }: RemoteChange): RemoteRow {
  if (!document) return { id, version, state: undefined };
  try {
    return { id, version, state: codec.toState(document as never) };
  } catch (cause) {
    throw invalid(`it cannot be stored: ${(cause as Error).message}`, id, cause);
  }
}
