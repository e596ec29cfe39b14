import { nanoid } from 'nanoid';
import type { LocalRow, PushedRow } from '../../engine/protocol/replica-protocol.ts';
import { ReplicationError } from '../../errors/replication-error.ts';
import { sameContent } from '../merge/same-content.ts';
import type { LocalChange, PushResult, RemoteChange } from '../protocol/remote.ts';
import { applyRows, readyRows } from './apply-rows.ts';
import type { RoundContext, Sent } from './round-context.ts';

/** Documents in one push. */
const BATCH = 500;

/** So often a document is pushed in one round: others may change it as fast as it is merged. */
const ATTEMPTS = 8;

/** A server remembers so many keys of a document. */
const MOST_SENT = 8;

/** Pushes local changes: each changed document once, in its newest state. */
export class Push {
  /** Documents in a push, at most: halved where the server finds it too large. */
  #batch = BATCH;
  /** Whether the last run has left documents that were changed each time between save and push: typed, dragged. */
  isBehind = false;
  /** Pushes of a document that the server has not accepted, as far as is known; the last ones, by id. */
  readonly #unanswered = new Map<string, readonly Sent[]>();

  /** @returns how many documents were pushed. */
  async run(context: RoundContext): Promise<number> {
    const attempts = new Map<string, number>();
    const skip = new Set<string>();
    let pushed = 0;
    let missed = 0;
    for (;;) {
      await context.save();
      const { rows, pending } = await context.send({
        ...{ op: 'replicaChanges', limit: this.#batch, skip: [...skip] },
      });
      if (rows.length === 0) {
        // What is pending and not listed was changed since the save.
        this.isBehind = pending > skip.size;
        if (this.isBehind && ++missed < ATTEMPTS) continue;
        if (!this.isBehind) context.events.caughtUp();
        return pushed;
      }
      for (const { id } of rows) {
        const count = (attempts.get(id) ?? 0) + 1;
        attempts.set(id, count);
        if (count === ATTEMPTS) skip.add(id);
      }
      const same = rows.filter((row) => isUnchanged(context, row));
      const changed = rows.filter((row) => !same.includes(row));
      const settled: PushedRow[] = same.map(({ id, version, state }) => ({
        ...{ id, version, sent: state },
      }));
      const conflicts: RemoteChange[] = [];
      for (const [row, result] of await this.#send(context, changed)) {
        const { id, state } = row;
        if ('conflict' in result) conflicts.push(result.conflict);
        else if ('rejected' in result) {
          const { reason, retry } = result.rejected;
          if (retry) skip.add(id);
          else settled.push({ id, refused: reason, sent: state });
          if (!retry) context.events.rejected(id, reason);
        } else {
          settled.push({
            ...{ id, version: result.version, sent: state },
            ...stored(context, result),
          });
          pushed++;
        }
        if (!('conflict' in result)) this.#unanswered.delete(id);
      }
      await context.send({ op: 'replicaPushed', rows: settled });
      if (changed.length > conflicts.length)
        context.events.pushed(changed.length - conflicts.length);
      if (conflicts.length > 0) await applyRows(context, readyRows(context, conflicts));
    }
  }

  async #send(
    context: RoundContext,
    rows: readonly LocalRow[],
  ): Promise<readonly (readonly [LocalRow, PushResult])[]> {
    if (rows.length === 0) return [];
    try {
      const results = await context.remote.push(rows.map((row) => this.#change(context, row)));
      return rows.map((row, index) => [row, results[index] as PushResult]);
    } catch (error) {
      const code = error instanceof ReplicationError ? error.code : undefined;
      if (code !== 'remote_refused' && code !== 'remote_too_large') throw error;
      const [row] = rows;
      // One row that the server does not accept must not block the others.
      if (row && rows.length === 1)
        return [[row, { rejected: { reason: (error as Error).message } }]];
      const half = Math.ceil(rows.length / 2);
      if (code === 'remote_too_large') this.#batch = Math.max(1, Math.ceil(this.#batch / 2));
      return [
        ...(await this.#send(context, rows.slice(0, half))),
        ...(await this.#send(context, rows.slice(half))),
      ];
    }
  }

  /** The push that made a state of the server, if this page has sent it and has no answer. */
  sent({ id, key }: RemoteChange): Sent | undefined {
    return this.#unanswered.get(id)?.find((one) => one.key === key);
  }

  #change({ codec, replica }: RoundContext, { id, version, state }: LocalRow): LocalChange {
    const before = this.#unanswered.get(id) ?? [];
    // The same push again has the same key. With another base it is another push: what the server has was seen.
    const same = before.find((one) => one.version === version && sameContent(one.state, state));
    const { key } = same ?? { key: `${replica}.${nanoid()}` };
    if (!same) this.#unanswered.set(id, [...before, { key, version, state }].slice(-MOST_SENT));
    return { id, base: version, document: state && codec.toDocument(id, state), key };
  }
}

/** Whether the local state equals the server's: it was changed and changed back, or made and deleted. */
function isUnchanged(
  { codec, pulls }: RoundContext,
  { id, version, base, state }: LocalRow,
): boolean {
  // If the server had it, the pull before has brought it.
  if (version === undefined) return pulls && !state && !base;
  if (!base || !state) return false;
  return sameContent(codec.toDocument(id, base), codec.toDocument(id, state));
}

function stored(
  { codec }: RoundContext,
  { document }: Extract<PushResult, { readonly version: string }>,
): Pick<PushedRow, 'stored'> {
  return document ? { stored: { state: codec.toState(document as never) } } : {};
}
