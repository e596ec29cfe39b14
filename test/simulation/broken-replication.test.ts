import type { Coroutine } from '../../src/async/coroutine.ts';
import { RecordTable } from '../../src/engine/records/table/record-table.ts';
import { Replica } from '../../src/engine/replication/replica.ts';
import { ReplicaLog } from '../../src/engine/replication/replica-log.ts';
import { ReplicaRequests } from '../../src/engine/replication/replica-requests.ts';
import { SaveLinks } from '../../src/engine/save-schedule.ts';
import { ConflictResolution } from '../../src/replication/rounds/conflict-resolution.ts';
import { PushRound } from '../../src/replication/rounds/push.ts';
import { RemoteCalls } from '../../src/replication/rounds/remote-calls.ts';
import { change, findsBroken } from './broken.ts';
import { ReplicationServer } from './replication-server.ts';
import { runReplication } from './run-replication.ts';

const finds = findsBroken(runReplication, 600);

finds('a push of changes that are not saved is found out', () => {
  let isListing = false;
  let isPushing = false;
  change(RecordTable.prototype, 'get', (get, key) => {
    const record = get(key);
    if (!isListing || record?.segment !== 0) return record;
    return Object.create(record, { segment: { value: 1 } });
  });
  change(ReplicaLog.prototype, 'isSaved', () => true);
  change(Replica.prototype, 'save', async (save) => {
    if (!isPushing) await save();
  });
  change(ReplicaRequests.prototype, 'execute', function* (execute, request) {
    const call = execute(request);
    isPushing = request.op === 'replicaChanges';
    isListing = isPushing;
    let step = call.next();
    isListing = false;
    isPushing = false;
    while (!step.done) {
      const reply = yield step.value as never;
      isPushing = request.op === 'replicaChanges';
      step = call.next(reply);
      isPushing = false;
    }
    return step.value;
  });
  change(PushRound.prototype, 'run', (run, context) =>
    run({ ...context, save: async () => undefined }),
  );
});

finds('a checkpoint that is saved without its rows is found out', () =>
  change(SaveLinks.prototype, 'link', () => undefined),
);

finds('a replication that does not know its own pushes is found out', () =>
  change(ConflictResolution.prototype, 'resolve', (resolve, row, found) =>
    resolve(row, found, undefined),
  ),
);

finds('a page that is dropped while a push is under way is found out', () => {
  const pages = new WeakMap<RemoteCalls, unknown>();
  const { pull: pulled } = RemoteCalls.prototype;
  change(RemoteCalls.prototype, 'pull', async function (pull, after) {
    const page = await pull(pages.get(this) ?? after);
    pages.set(this, page.checkpoint);
    return page;
  });
  change(RemoteCalls.prototype, 'push', async function (push, rows) {
    const results = await push(rows);
    const page = await pulled.call(this, pages.get(this));
    pages.set(this, page.checkpoint);
    return results;
  });
});

finds('a resolution of a local state that has changed since is found out', () =>
  change(ReplicaRequests.prototype, 'execute', function* (execute, request): Coroutine<unknown> {
    if (request.op !== 'replicaApply') return yield* execute(request);
    const { checkpoint: _, kept: __, ...rest } = request;
    const rows = request.rows.map(({ resolution: ___, ...row }) => row);
    const found = (yield* execute({ ...rest, rows } as never)) as { id: string; state: never }[];
    const states = new Map(found.map(({ id, state }) => [id, state]));
    const current = request.rows.map((row) =>
      row.resolution
        ? { ...row, resolution: { ...row.resolution, seen: states.get(row.id) } }
        : row,
    );
    return yield* execute({ ...request, rows: current });
  }),
);

finds('a merge without the common base is found out', () =>
  change(ConflictResolution.prototype, 'resolve', (resolve, row, found, origin) =>
    resolve(row, { ...found, base: undefined }, origin),
  ),
);

finds('operations that merge as values are found out', () =>
  change(ReplicaRequests.prototype, 'execute', function* (execute, request) {
    return request.op === 'replicaRebase' ? undefined : yield* execute(request);
  }),
);

finds('a document that goes before its change is pushed is found out', () =>
  change(Replica.prototype, 'takeStrays', function (takeStrays) {
    const changed = [...this.dirty].filter((id) => this.scopesOf(id).length === 0);
    return [...takeStrays(), ...changed];
  }),
);

finds('a document that stays though it has left its scopes is found out', () =>
  change(ReplicaRequests.prototype, 'execute', function* (execute, request) {
    return yield* execute(
      request.op === 'replicaApply'
        ? { ...request, rows: request.rows.filter(({ left }) => !left) }
        : request,
    );
  }),
);

finds('a server whose readers pass a push that commits late is found out', () =>
  change(ReplicationServer.prototype, 'heldBack', (heldBack) => heldBack(new Set())),
);

finds(
  'a document that a restored server has deleted, and that is merged for ever, is found out',
  () => {
    const deleted = new WeakMap<ReplicaRequests, Set<string>>();
    change(ReplicaRequests.prototype, 'execute', function* (execute, request): Coroutine<unknown> {
      if (request.op !== 'replicaApply') return yield* execute(request);
      const gone = deleted.get(this) ?? new Set();
      deleted.set(this, gone);
      for (const { id, state } of request.rows)
        if (state) gone.delete(id);
        else gone.add(id);
      const kept = request.kept?.filter((id) => !gone.has(id));
      return yield* execute({ ...request, kept });
    });
  },
);

finds('a base that is read late, and replaces that of a merge, is found out', () =>
  change(Replica.prototype, 'enter', function (enter, id, ...entry) {
    const unread = this.unread.get(id);
    enter(id, ...entry);
    if (unread) this.unread.set(id, unread);
  }),
);
