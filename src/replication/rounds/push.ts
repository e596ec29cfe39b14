import type { LocalRow, PushedRow, Push as SentPush } from '../../protocol/replica-protocol.ts';
import { sameContent } from '../merge-fields.ts';
import type { PushResult, RemoteChange } from '../protocol/remote.ts';
import { applyRows, readyRows } from './apply-rows.ts';
import type { RoundContext } from './round-context.ts';
import { acceptedRow, changeOf, sendRows } from './send-rows.ts';

/** Documents in one push. */
const BATCH = 500;

/** The same, where documents may have content: it is in memory until it is a file. */
const FEW = 50;

/** A round pushes for so long before it looks for other changes. */
const BESIDE_MS = 2000;

/** So often a document is pushed in one round: others may change it as fast as it is merged. */
const ATTEMPTS = 8;

/** Pushes local changes: each changed document once, in its newest state. */
export class PushRound {
  /** Documents in a push, at most: halved where the server finds it too large. */
  #batch = BATCH;
  /**
   * The same for now: fewer where the network broke, as what came of a push that it breaks is not
   * known; more again with each that it carries.
   */
  #carried = BATCH;
  /** Documents that are looked at together for content: more after those that have none. */
  #looked = FEW;
  /**
   * Whether the last run has left documents that were changed each time between save and push:
   * typed, dragged.
   */
  isBehind = false;
  /** How many documents the last run has pushed, which changed first, where it has left some. */
  reach: number | undefined;

  /** Nothing has changed here. */
  skip(): number {
    this.isBehind = false;
    this.reach = undefined;
    return 0;
  }

  /** @returns how many documents were pushed, or found to be others on the server. */
  async run(context: RoundContext): Promise<number> {
    const attempts = new Map<string, number>();
    const skip = new Set(context.files?.waiting());
    /** Documents whose files travel with them: each is pushed alone, after all others. */
    const heavy = new Set<string>();
    const began = context.clock.elapsed();
    /** What was local of these is on the server, or refused. */
    const done = new Set<string>();
    let pushed = this.skip();
    let missed = 0;
    for (;;) {
      await context.save();
      // What others have changed does not wait for all of them: more may come without end.
      if (pushed > 0 && context.clock.elapsed() - began > BESIDE_MS) {
        this.reach = done.size;
        return pushed;
      }
      this.#carried = Math.min(this.#carried, this.#batch);
      const limit = context.files ? await this.#ready(context, skip, heavy) : this.#carried;
      const { rows, unsaved } = await context.send({
        ...{ op: 'replicaChanges', limit, skip: [...skip, ...heavy] },
      });
      if (rows.length === 0) {
        // They were changed since the save.
        this.isBehind = unsaved > 0;
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
      const changed: LocalRow[] = [];
      const settled: PushedRow[] = same.map((row) => ({
        ...{ id: row.id, version: row.version, key: keyOf(row) },
      }));
      for (const row of rows.filter((one) => !same.includes(one))) {
        const { id, state } = row;
        const document = state && context.codec.toDocument(id, state);
        const verdict = context.files?.verdict(id, document) ?? true;
        if (verdict === true) changed.push(row);
        else if (verdict === false) skip.add(id);
        else {
          settled.push({ id, key: keyOf(row), refused: verdict });
          context.events.rejected(id, verdict);
        }
      }
      const conflicts: RemoteChange[] = [];
      const unmade = new Set<string>();
      for (const [row, result] of await this.#send(context, changed)) {
        const { id } = row;
        const key = keyOf(row);
        const documentOf = () => row.state && context.codec.toDocument(id, row.state);
        if ('conflict' in result) {
          conflicts.push(result.conflict);
          unmade.add(key);
        } else if ('rejected' in result) {
          const { reason } = result.rejected;
          const retry =
            result.rejected.retry && (!context.files || (await context.files.resend(documentOf())));
          if (retry) skip.add(id);
          else settled.push({ id, key, refused: reason });
          if (!retry) context.events.rejected(id, reason);
        } else {
          settled.push(acceptedRow(context, row, result));
          await context.files?.named([documentOf()]);
          pushed++;
        }
      }
      await context.send({ op: 'replicaPushed', rows: settled });
      for (const { id } of settled) done.add(id);
      if (changed.length > conflicts.length)
        context.events.pushed(changed.length - conflicts.length);
      if (conflicts.length > 0)
        await applyRows(context, await readyRows(context, conflicts), {}, unmade);
      // What is as the server has it now may be in no scope.
      pushed += conflicts.length;
    }
  }

  /**
   * Looks for documents that can be pushed: others wait for their files, and are skipped.
   *
   * @returns how many to push; those that nobody has looked at are not among them.
   */
  async #ready(context: RoundContext, skip: Set<string>, heavy: Set<string>): Promise<number> {
    for (;;) {
      const limit = Math.min(this.#carried, this.#looked);
      const { rows } = await context.send({
        ...{ op: 'replicaChanges', limit, skip: [...skip, ...heavy], refused: 'look' },
      });
      let held = 0;
      for (const { id, state, base } of rows) {
        const documentOf = (one: typeof state) => one && context.codec.toDocument(id, one);
        const document = documentOf(state);
        const isWaiting = context.files?.verdict(id, document) === false;
        const isHeavy = !isWaiting && context.files?.isHeavy(document, () => documentOf(base));
        if (isWaiting) skip.add(id);
        if (isHeavy) heavy.add(id);
        if (isWaiting || isHeavy) held++;
      }
      this.#looked = held > 0 ? FEW : Math.min(BATCH, 2 * this.#looked);
      const ready = rows.length - held;
      if (ready > 0) return ready;
      if (rows.length > 0) continue;
      const [next] = heavy;
      if (next !== undefined) heavy.delete(next);
      return 1;
    }
  }

  async #send(
    context: RoundContext,
    rows: readonly LocalRow[],
  ): Promise<readonly (readonly [LocalRow, PushResult])[]> {
    const changes = rows.map((row) => changeOf(context, row, row.pushes.at(-1) as SentPush));
    const sending = sendRows(context, changes, () => {
      this.#batch = Math.max(1, Math.ceil(this.#batch / 2));
    });
    const results = await sending.catch((error: unknown) => {
      this.#carried = Math.max(1, Math.ceil(rows.length / 2));
      throw error;
    });
    this.#carried *= 2;
    return rows.map((row, index) => [row, results[index] as PushResult]);
  }
}

function keyOf({ pushes }: LocalRow): string {
  return (pushes.at(-1) as SentPush)[0];
}

/**
 * Whether the local state equals the server's: it was changed and changed back, or made and
 * deleted.
 */
function isUnchanged(
  { codec, pulls }: RoundContext,
  { id, version, base, state, pushes }: LocalRow,
): boolean {
  // The server may have made an earlier push by now.
  if (pushes.length > 1) return false;
  // If the server had it, the pull before has brought it.
  if (version === undefined) return pulls && !state && !base;
  if (!base || !state) return false;
  return sameContent(codec.toDocument(id, base), codec.toDocument(id, state));
}
