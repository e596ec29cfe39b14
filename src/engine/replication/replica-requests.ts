import type { Body } from '../../codec/body.ts';
import { ReplicationError } from '../../errors/replication-error.ts';
import type { CollectionContext } from '../collections/collection-context.ts';
import type {
  LocalRow,
  PushedRow,
  RejectedRow,
  RemoteRow,
  ReplicaOperations,
  ReplicaReport,
  ReplicaState,
} from '../protocol/replica-protocol.ts';
import type { Request } from '../protocol/requests.ts';
import { type Coroutine, wait } from '../scheduling/coroutine.ts';
import { Pace } from '../scheduling/pace.ts';
import { sameState, stateOf } from './record-states.ts';
import { RemoteRows } from './remote-rows.ts';
import { Replica } from './replica.ts';

export type ReplicaRequest = Request<keyof ReplicaOperations>;

/** Executes the requests of replication to one collection. Each holds the collection's queue. */
export class ReplicaRequests {
  readonly #context: CollectionContext;

  constructor(context: CollectionContext) {
    this.#context = context;
  }

  execute(request: ReplicaRequest): Coroutine<unknown> {
    switch (request.op) {
      case 'replicaOpen':
        return this.#open(request.remote);
      case 'replicaReport':
        return this.#report(request);
      case 'replicaChanges':
        return this.#changes(request);
      case 'replicaApply':
        return this.#apply(request);
      case 'replicaPushed':
        return this.#pushed(request.rows);
      case 'replicaRejected':
        return this.#rejected();
      case 'replicaRevert':
        return this.#revert(request.id);
      case 'replicaEnd':
        return this.#end();
    }
  }

  *#open(remote: string): Coroutine<ReplicaState> {
    const { settings, records, saves, newId } = this.#context;
    const { replica } = this.#context;
    if (replica) {
      const { remote: known, replica: name, checkpoint } = replica.state;
      if (known !== remote) throw otherRemote(settings.name, known);
      return { remote, replica: name, checkpoint };
    }
    const fresh = new Replica(this.#context);
    // A crash may have left the log of an earlier one.
    yield fresh.log.clear();
    fresh.begin({ remote, replica: newId(21), checkpoint: undefined, rejected: {} });
    yield fresh.log.saves.flush();
    yield saves.flush();
    yield saves.alone(() => records.log.recordReplication(true));
    this.#context.replica = fresh;
    return fresh.state;
  }

  // biome-ignore lint/correctness/useYield: all requests are coroutines
  *#report(request: Request<'replicaReport'>): Coroutine<ReplicaReport> {
    return this.#replica.report(request);
  }

  get #replica(): Replica {
    const { replica, settings } = this.#context;
    if (!replica)
      throw new ReplicationError(
        'not_replicated',
        `Collection "${settings.name}" does not replicate; call replicate() first.`,
        { place: settings.name },
      );
    return replica;
  }

  get #remote(): RemoteRows {
    return new RemoteRows(this.#context, this.#replica);
  }

  /** Only what is saved: what a crash would lose here must not be on the server. */
  *#changes({ limit, skip = [] }: Request<'replicaChanges'>): Coroutine<unknown> {
    const replica = this.#replica;
    const { records } = this.#context;
    const skipped = new Set(skip);
    const { rejected } = replica.state;
    const ids: string[] = [];
    let pending = 0;
    for (const id of replica.dirty) {
      if (Object.hasOwn(rejected, id)) continue;
      pending++;
      if (skipped.has(id) || ids.length >= limit) continue;
      const record = records.get(id);
      if ((record && record.segment === 0) || !replica.log.isSaved(id)) continue;
      ids.push(id);
    }
    return { rows: yield* this.#rows(ids), pending };
  }

  /** The documents with what they derive from. */
  *#rows(ids: readonly string[]): Coroutine<LocalRow[]> {
    const { records } = this.#context;
    const replica = this.#replica;
    const found = ids.map((id) => records.get(id));
    const bodies = (yield* records.bodies.ofAll(found.filter((one) => one !== undefined))).values();
    return ids.map((id, index) => {
      const record = found[index];
      const state = record && stateOf(record, bodies.next().value as Body);
      return { id, version: replica.versionOf(id, record), base: replica.log.get(id)?.base, state };
    });
  }

  *#apply({
    rows,
    after,
    checkpoint,
    sweep,
  }: Request<'replicaApply'>): Coroutine<readonly LocalRow[]> {
    const replica = this.#replica;
    const { settings, clock, aborts } = this.#context;
    if (checkpoint !== undefined && replica.state.checkpoint !== after)
      throw new ReplicationError(
        'checkpoint_moved',
        `Collection "${settings.name}" was replicated by another page meanwhile.`,
        { place: settings.name },
      );
    const local = new Map<string, LocalRow>();
    const dirty = rows.filter(({ id }) => replica.dirty.has(id)).map(({ id }) => id);
    for (const row of yield* this.#rows(dirty)) local.set(row.id, row);
    const conflicts: LocalRow[] = [];
    const clean: RemoteRow[] = [];
    for (const row of rows) {
      const found = local.get(row.id);
      if (replica.versionOf(row.id) === row.version) continue;
      if (!found) clean.push(row);
      else if (row.resolution && sameState(found.state, row.resolution.seen))
        replica.applying(() => this.#remote.resolve(row, row.resolution?.result));
      else conflicts.push(found);
    }
    replica.applying(() => this.#remote.takeOver(clean));
    if (conflicts.length > 0) return conflicts;
    if (sweep) {
      const kept = new Set(sweep);
      const pace = new Pace(clock, aborts);
      for (const record of this.#context.records.list()) {
        this.#remote.sweep(record.key, kept);
        if (pace.due) yield* pace.pause();
      }
      for (const id of [...replica.log.ids()]) this.#remote.sweep(id, kept);
    }
    if (checkpoint !== undefined) replica.state = { ...replica.state, checkpoint };
    return [];
  }

  *#pushed(rows: readonly PushedRow[]): Coroutine<undefined> {
    const replica = this.#replica;
    const local = new Map<string, LocalRow>();
    for (const row of yield* this.#rows(rows.map(({ id }) => id))) local.set(row.id, row);
    const rejected: Record<string, string> = { ...replica.state.rejected };
    for (const row of rows) {
      const { id, sent } = row;
      const { state } = local.get(id) as LocalRow;
      const isAsSent = sameState(state, sent);
      if ('rejected' in row) {
        if (isAsSent) rejected[id] = row.rejected;
      } else if (isAsSent) this.#remote.accept(row, state);
      else
        replica.enter(id, {
          version: row.version,
          isDirty: true,
          base: row.stored ? row.stored.state : sent,
        });
    }
    if (rows.some((row) => 'rejected' in row)) replica.state = { ...replica.state, rejected };
    return undefined;
  }

  *#rejected(): Coroutine<readonly RejectedRow[]> {
    const replica = this.#replica;
    const { rejected } = replica.state;
    const rows = yield* this.#rows(Object.keys(rejected));
    return rows.map(({ id, version, state }) => ({
      ...{ id, version, state },
      reason: rejected[id] as string,
    }));
  }

  *#revert(id: string): Coroutine<boolean> {
    const replica = this.#replica;
    if (!replica.dirty.has(id)) return false;
    const { version, base } = replica.log.get(id) ?? {};
    const { versions, records } = this.#context;
    if (Object.hasOwn(replica.state.rejected, id)) replica.accept([id]);
    if (version !== undefined && base)
      replica.applying(() => this.#remote.takeOver([{ id, version, state: base }]));
    else {
      const record = records.get(id);
      if (record) replica.applying(() => versions.delete(record));
    }
    replica.equals(id);
    return true;
  }

  *#end(): Coroutine<undefined> {
    const { replica, records, saves } = this.#context;
    if (!replica) return undefined;
    yield saves.flush();
    yield saves.alone(() => records.log.recordReplication(false));
    this.#context.replica = undefined;
    yield* wait(replica.log.drop());
    return undefined;
  }
}

function otherRemote(name: string, known: string): ReplicationError {
  return new ReplicationError(
    'remote_mismatch',
    `Collection "${name}" replicates with ${known}. Stop that with stop({ forget: true }) before it replicates with another.`,
    { place: name },
  );
}
