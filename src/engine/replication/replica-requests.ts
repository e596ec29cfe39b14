import type { Coroutine } from '../../async/coroutine.ts';
import type { Body } from '../../codec/body.ts';
import { ReplicationError, type ReplicationErrorCode } from '../../errors/replication-error.ts';
import { UPDATED } from '../../protocol/managed.ts';
import type { RecordState } from '../../protocol/record-states.ts';
import type {
  LocalRow,
  OpenReplica,
  PushedRow,
  RebasedStates,
  RemoteRow,
  ReplicaOperations,
} from '../../protocol/replica-protocol.ts';
import type { ReplyTo, Request } from '../../protocol/requests.ts';
import type { Operation } from '../../query/update/late-update.ts';
import { loadedRebase } from '../../query/update/late-update.ts';
import { RecordPart } from '../../storage/segments/record-part.ts';
import { type Stamps, StoredRecord } from '../../storage/segments/stored-record.ts';
import type { CollectionContext } from '../collection-context.ts';
import { isEarlier } from './held-version.ts';
import { PackedFill } from './packed-fill.ts';
import { Replica } from './replica.ts';
import { recordStateOf, sameState } from './replica-tracker.ts';

export type ReplicaRequest = Request<keyof ReplicaOperations>;

/** Executes the requests of replication to one collection. */
export class ReplicaRequests {
  readonly #context: CollectionContext;
  #replica: Replica | undefined;
  /** Of this replica: what was read ahead for an earlier one is another server's. */
  #packed!: PackedFill;

  constructor(context: CollectionContext) {
    this.#context = context;
  }

  /** Must be called when a collection that is replicated has been opened. */
  async open(stolen: boolean): Promise<void> {
    const replica = new Replica(this.#context);
    await replica.open();
    if (stolen) await replica.log.recordTakeover();
    this.#use(replica);
  }

  *execute(request: ReplicaRequest): Coroutine<unknown> {
    if (request.op === 'replicaOpen') return yield* this.#begin(request);
    const replica = this.#replica;
    if (!replica) throw this.#error('not_replicated', 'does not replicate');
    // What a page that was replaced still has in hand is older than what the next one has applied.
    if ('opening' in request && request.opening !== replica.opening)
      throw this.#error('checkpoint_moved', 'was replicated by another page meanwhile');
    switch (request.op) {
      case 'replicaScope':
        return yield* this.#scope(replica, request);
      case 'replicaSweep':
        return yield* this.#sweep(replica);
      case 'replicaReport':
        return replica.report(request);
      case 'replicaChanges':
        return yield* this.#changes(replica, request);
      case 'replicaApply':
        return yield* this.#apply(replica, request);
      case 'replicaRead':
        return yield* this.#packed.read(request);
      case 'replicaFill':
        this.#checkPlace(replica, request.after);
        return yield* this.#packed.fill(request);
      case 'replicaRebase':
        return yield* this.#rebase(replica, request);
      case 'replicaPushed':
        return yield* this.#pushed(replica, request.rows);
      case 'replicaRevert':
        return yield* this.#revert(replica, request.id);
      case 'replicaEnd':
        return yield* this.#end(replica);
    }
  }

  *#begin({ remote, scopes }: Request<'replicaOpen'>): Coroutine<OpenReplica> {
    const replica = this.#replica ?? (yield* this.#start(remote));
    const { state, opening } = replica;
    if (state.remote !== remote)
      throw this.#error(
        'remote_mismatch',
        `replicates with ${state.remote} until stop({ forget: true })`,
      );
    if (scopes !== null) replica.openScopes(scopes, this.#context.clock.now());
    const { lastEnd: born } = this.#context.records.applied;
    return { ...replica.state, opening, born, isNew: replica.isNew };
  }

  *#scope(replica: Replica, { scope, until, ends }: Request<'replicaScope'>): Coroutine<undefined> {
    if (ends) replica.removeScope(scope);
    else replica.addScope(scope, { until });
    yield replica.save();
    return undefined;
  }

  *#sweep(replica: Replica): Coroutine<undefined> {
    const { records, versions, saves } = this.#context;
    const strays = replica.takeStrays();
    replica.applying(() => {
      for (const id of strays) {
        const record = records.table.get(id);
        replica.equals(id);
        if (record) versions.delete(record);
      }
    });
    if (strays.length > 0) yield saves.flush();
    return undefined;
  }

  *#start(remote: string): Coroutine<Replica> {
    const { records, saves, newId } = this.#context;
    const replica = new Replica(this.#context);
    // A crash may have left the log of an earlier one.
    yield this.#remove(replica);
    yield replica.log.open();
    replica.begin({
      remote,
      replica: newId(21),
      checkpoint: undefined,
      rejected: [],
      replacement: 1,
    });
    yield replica.save();
    yield saves.flush();
    yield saves.alone(() => records.log.recordReplication(1));
    this.#use(replica);
    return replica;
  }

  #use(replica: Replica | undefined): void {
    this.#replica = replica;
    if (replica) this.#packed = new PackedFill(this.#context, replica);
    this.#context.replica = replica;
  }

  #error(code: ReplicationErrorCode, why: string): ReplicationError {
    const { name: place } = this.#context.settings;
    return new ReplicationError(code, `Collection "${place}" ${why}.`, { place });
  }

  *#changes(
    replica: Replica,
    { limit, skip = [], refused }: Request<'replicaChanges'>,
  ): Coroutine<ReplyTo<'replicaChanges'>> {
    const { records } = this.#context;
    if (!refused) this.#packed.forget();
    const skipped = new Set(skip);
    const ids: string[] = [];
    let unsaved = 0;
    for (const id of replica.dirty) {
      if (ids.length === limit) break;
      if ((replica.refusal(id) !== undefined) !== (refused === true) || skipped.has(id)) continue;
      // A change that a crash could lose must not be on the server.
      if (records.table.get(id)?.segment !== 0 && replica.log.isSaved(id)) ids.push(id);
      else unsaved++;
    }
    const rows = yield* this.#rows(replica, ids, !refused);
    // A crash behind the push must not forget it.
    if (!refused) yield replica.save();
    return { rows, unsaved };
  }

  /** The documents, with the versions that they derive from. */
  *#rows(replica: Replica, ids: readonly string[], arePushed = false): Coroutine<LocalRow[]> {
    const { records } = this.#context;
    const found = ids.map((id) => records.table.get(id));
    const bodies = (yield* records.bodies.ofAll(found.filter((one) => one !== undefined))).values();
    const rows: LocalRow[] = [];
    for (const [index, id] of ids.entries()) {
      const record = found[index];
      const state = record && recordStateOf(record, bodies.next().value as Body);
      const base = yield* this.#baseOf(replica, id);
      if (arePushed && !replica.isSent(id)) {
        const operations = replica.operationsSince(id);
        const rebased = rebaseStates(operations, base, state, base);
        const isAll = rebased && sameState(rebased.base, state);
        replica.pushing(id, state, isAll ? rebased.operations : undefined);
      }
      rows.push({
        ...{ id, base, state, version: replica.versionOf(id, record) },
        refused: replica.refusal(id),
        pushes: replica.log.pushes(id),
        operations: replica.log.operations(id),
      });
    }
    return rows;
  }

  /** The server's state that a document derives from, which may be on its way from storage. */
  *#baseOf(replica: Replica, id: string): Coroutine<RecordState | undefined> {
    const unread = replica.unread.get(id);
    if (!unread) return replica.log.get(id)?.base;
    return recordStateOf(unread, yield* this.#context.records.bodies.of(unread));
  }

  *#rebase(
    replica: Replica,
    { id, remote, push }: Request<'replicaRebase'>,
  ): Coroutine<RebasedStates | undefined> {
    const { records } = this.#context;
    const operations = replica.operationsSince(id, push);
    const record = records.table.get(id);
    if (!record || operations.length === 0) return undefined;
    const local = recordStateOf(record, yield* records.bodies.of(record));
    const made = replica.log.pushes(id).find(([key]) => key === push);
    const base = made
      ? made[1] === undefined
        ? local
        : (made[1] ?? undefined)
      : yield* this.#baseOf(replica, id);
    return rebaseStates(operations, base, local, remote);
  }

  *#apply(
    replica: Replica,
    { rows, scope, after, checkpoint, kept }: Request<'replicaApply'>,
  ): Coroutine<readonly LocalRow[]> {
    const { table } = this.#context.records;
    if (checkpoint !== undefined) this.#checkPlace(replica, after, scope);
    for (const { id, version } of rows)
      if (isEarlier(version, () => replica.versionOf(id)))
        throw this.#error('seal_replayed', `was sent an older "${id}"`);
    const known = kept && new Set([...kept, ...rows.map(({ id }) => id)]);
    const unknown = [
      ...rows,
      ...(known ? this.#goneBut(replica, known, scope !== undefined) : []),
    ].filter((row) => {
      const { id, version, state } = row;
      const others = without(replica.scopesOf(id), scope);
      const isDirty = replica.dirty.has(id);
      const held = isDirty ? (replica.unread.get(id) ?? replica.log.get(id)?.base) : table.get(id);
      // A server hides a version that is here when its user may not read it any more.
      const isKnown = replica.versionOf(id) === version && !held === !state;
      if (row.left) replica.setScopes(id, others);
      else if (!isKnown) return true;
      else if (!state && !isDirty) replica.equals(id);
      else if (state && scope) replica.setScopes(id, [...others, scope]);
      return false;
    });
    const changed = unknown.filter(({ id }) => replica.dirty.has(id)).map(({ id }) => id);
    const found = yield* this.#rows(replica, changed);
    const local = new Map(found.map((row) => [row.id, row]));
    const conflicts: LocalRow[] = [];
    const outcomes: Outcome[] = [];
    for (const row of unknown) {
      const { resolution } = row;
      const mine = local.get(row.id);
      if (!mine) outcomes.push([row, row.state]);
      else if (resolution && sameState(mine.state, resolution.seen))
        outcomes.push([row, resolution.result]);
      else conflicts.push(mine);
    }
    replica.applying(() => applyRemoteRows(this.#context, replica, outcomes, scope));
    if (conflicts.length === 0 && checkpoint !== undefined)
      replica.setCheckpoint(checkpoint, scope);
    // Local changes of these documents come later: another engine can reapply them, but not the
    // rows.
    if (outcomes.length > 0) yield this.#context.saves.flush();
    return conflicts;
  }

  /** @throws {ReplicationError} `checkpoint_moved` where a pull did not begin there. */
  #checkPlace({ state }: Replica, after: string | undefined, scope?: string): void {
    const of = scope === undefined ? state : state.scopes?.find(({ id }) => id === scope);
    if (of && of.checkpoint !== after)
      throw this.#error('checkpoint_moved', 'was replicated by another page meanwhile');
  }

  /** Documents that derive from the server's, and that it, or a scope, no longer has. */
  *#goneBut(replica: Replica, kept: ReadonlySet<string>, left: boolean): Generator<RemoteRow> {
    const ids = new Set([...this.#context.records.table.keys(), ...replica.log.ids()]);
    for (const id of ids)
      if (!kept.has(id)) yield { id, version: undefined, state: undefined, left };
  }

  *#pushed(replica: Replica, rows: readonly PushedRow[]): Coroutine<undefined> {
    const refused: [id: string, reason: string][] = [];
    const outcomes: Outcome[] = [];
    for (const { id, key, version, stored, refused: reason } of rows) {
      const push = replica.log.pushes(id).find(([known]) => known === key);
      if (!push) continue;
      const isAsSent = push[1] === undefined;
      const base = push[1] ?? undefined;
      const since = replica.operationsSince(id, key);
      if (reason !== undefined) {
        if (isAsSent) refused.push([id, reason]);
      } else if (isAsSent && stored)
        outcomes.push([{ id, version, state: stored.state }, stored.state]);
      // Changes of the server that are not here yet: a push with the old version brings them as a
      // conflict.
      else if (stored) {
        replica.enter(id, { version: replica.versionOf(id), isDirty: true, base }, false);
        // What was sent is kept: that push may have been applied to what others have changed.
        const { sent } = replica.log.operations(id)?.[key] ?? {};
        replica.log.setOperations(id, { [key]: { ...(sent && { sent }), since } });
      } else if (isAsSent && !this.#context.records.table.get(id) && !replica.versionOf(id))
        replica.equals(id);
      // A deletion too, until a pull brings it: a document that is made anew derives from it.
      else {
        replica.enter(id, { version, isDirty: !isAsSent, base });
        if (!isAsSent) replica.setOperations(id, since);
      }
    }
    replica.applying(() => applyRemoteRows(this.#context, replica, outcomes));
    replica.refuse(refused);
    if (outcomes.length > 0) yield this.#context.saves.flush();
    return undefined;
  }

  *#revert(replica: Replica, id: string): Coroutine<boolean> {
    if (!replica.dirty.has(id)) return false;
    const base = yield* this.#baseOf(replica, id);
    replica.accept(id);
    const outcome: Outcome = [{ id, version: replica.versionOf(id), state: base }, base];
    replica.applying(() => applyRemoteRows(this.#context, replica, [outcome]));
    return true;
  }

  *#end(replica: Replica): Coroutine<undefined> {
    const { records, saves } = this.#context;
    yield saves.flush();
    yield saves.alone(() => records.log.recordReplication(0));
    this.#use(undefined);
    yield replica.leave();
    yield this.#remove(replica);
    return undefined;
  }

  #remove(replica: Replica): Promise<void> {
    const { storage, durability } = this.#context;
    return storage.write(replica.removal(), durability);
  }
}

/**
 * Applies the operations that have made a local state of its base to a state of the server.
 *
 * @returns `undefined` where nothing of them is left, or their code has not loaded: a push then has
 *   no operations, and a request that applies them names their part.
 */
function rebaseStates(
  operations: readonly Operation[],
  base: RecordState | undefined,
  local: RecordState | undefined,
  remote: RecordState | undefined,
): RebasedStates | undefined {
  const rebase = loadedRebase();
  if (!rebase || operations.length === 0 || !base || !local || !remote) return undefined;
  const made = rebase(operations, base[2], local[2], remote[2]);
  if (!made) return undefined;
  const changed = ([flags, stamps]: RecordState, body: Body): RecordState => [
    flags | (local[0] & UPDATED),
    laterUpdate(stamps, local[1]),
    body,
  ];
  const { operations: left, base: from, remote: onto } = made;
  return { operations: left, base: changed(base, from), remote: changed(remote, onto) };
}

function laterUpdate(stamps: Stamps | undefined, local: Stamps | undefined): Stamps | undefined {
  if (!stamps || !local) return stamps ?? local;
  const [created, updated, ...others] = stamps;
  return [created, Math.max(updated, local[1]), ...others];
}

type NewVersion = Parameters<CollectionContext['versions']['putAll']>[0][number];

/** A state of the server, and what the document shall be. */
type Outcome = readonly [row: RemoteRow, result: RecordState | undefined];

/**
 * Applies states of the server to the records of a collection, all or none. They are no local
 * changes.
 *
 * @throws {ValueError} `unique_violation`
 */
function applyRemoteRows(
  { records, indexes, versions }: CollectionContext,
  replica: Replica,
  outcomes: readonly Outcome[],
  scope?: string,
): void {
  const deleted: StoredRecord[] = [];
  const made: NewVersion[] = [];
  const entries = outcomes.map(([{ id, version, state, resolution }, result]) => {
    const before = records.table.get(id);
    const isRemote = sameState(result, state);
    const isSeen = sameState(result, resolution?.seen);
    let scopes = replica.scopesOf(id);
    if (scope && state) scopes = [...without(scopes, scope), scope];
    if (!result) {
      if (before) deleted.push(before);
    } else if (isRemote || !isSeen) {
      const [flags, stamps, body] = result;
      const rank = before?.rank ?? records.takeRank();
      const record = new StoredRecord(id, rank, flags, stamps, body);
      if (isRemote && version !== undefined) record.remoteVersion = replica.tagged(version, scopes);
      // A wrong vector of one document must not stop all: no other client can be asked to mend it.
      indexes.extract(record, body, before, undefined, 'readStored');
      made.push({ record, before, kind: before ? 'update' : 'insert' });
    }
    return () => {
      // The server may take what a merge has made of a document that it refused.
      if (resolution && !isSeen) replica.accept(id);
      if (!isRemote) {
        replica.enter(id, { version, scopes, isDirty: true, base: state });
        replica.setOperations(id, resolution?.operations);
      } else if (replica.log.get(id) || replica.dirty.has(id)) replica.equals(id);
      replica.noteStray(id);
    };
  });
  // Together: documents may have exchanged keys of a unique index.
  if (deleted[0] || made.some(({ before }) => before)) versions.putAll(made, deleted);
  else if (made[0]) versions.add(new RecordPart({ made: made.map(({ record }) => record) }));
  for (const enter of entries) enter();
}

function without(scopes: readonly string[], scope: string | undefined): readonly string[] {
  return scopes.filter((one) => one !== scope);
}
