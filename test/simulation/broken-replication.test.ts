import { afterEach, expect, test, vi } from 'vitest';
import type { Coroutine } from '../../src/async/coroutine.ts';
import { RecordTable } from '../../src/engine/records/table/record-table.ts';
import { Replica } from '../../src/engine/replication/replica.ts';
import { ReplicaLog } from '../../src/engine/replication/replica-log.ts';
import {
  type ReplicaRequest,
  ReplicaRequests,
} from '../../src/engine/replication/replica-requests.ts';
import { SaveLinks } from '../../src/engine/save-schedule.ts';
import { ConflictResolution } from '../../src/replication/rounds/conflict-resolution.ts';
import { PushRound } from '../../src/replication/rounds/push.ts';
import { RemoteCalls } from '../../src/replication/rounds/remote-calls.ts';
import { ReplicationServer } from './replication-server.ts';
import { runReplication } from './run-replication.ts';
import { firstFailure } from './run-seeds.ts';

afterEach(() => vi.restoreAllMocks());

const PATIENCE = 600_000;
/** Each of these is found within so many seeds. */
const SOON = 600;

/** Expects the broken replication to be found out soon. */
async function expectFound(): Promise<void> {
  const seed = await firstFailure(runReplication, { seeds: SOON });
  if (process.env.TRACE) console.log(expect.getState().currentTestName, seed);
  expect(seed).toBeDefined();
}

type Execute = (request: ReplicaRequest) => Coroutine<unknown>;

/** Changes what the engine does with a request. */
function changeRequests(change: (request: ReplicaRequest, execute: Execute) => Coroutine<unknown>) {
  const { execute } = ReplicaRequests.prototype;
  vi.spyOn(ReplicaRequests.prototype, 'execute').mockImplementation(function (
    this: ReplicaRequests,
    request,
  ) {
    return change(request, (one) => execute.call(this, one));
  });
}

const { resolve } = ConflictResolution.prototype;

/** Changes what a conflict is decided from. */
function changeResolve(
  change: (...args: Parameters<typeof resolve>) => Parameters<typeof resolve>,
): void {
  vi.spyOn(ConflictResolution.prototype, 'resolve').mockImplementation(function (
    this: ConflictResolution,
    ...args
  ) {
    return resolve.apply(this, change(...args));
  });
}

test(
  'a push of changes that are not saved is found out',
  async () => {
    const { get } = RecordTable.prototype;
    const { save } = Replica.prototype;
    let isListing = false;
    let isPushing = false;
    vi.spyOn(RecordTable.prototype, 'get').mockImplementation(function (this: RecordTable, key) {
      const record = get.call(this, key);
      if (!isListing || record?.segment !== 0) return record;
      return Object.create(record, { segment: { value: 1 } });
    });
    vi.spyOn(ReplicaLog.prototype, 'isSaved').mockReturnValue(true);
    vi.spyOn(Replica.prototype, 'save').mockImplementation(async function (this: Replica) {
      if (!isPushing) await save.call(this);
    });
    changeRequests(function* (request, execute) {
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
    const { run } = PushRound.prototype;
    vi.spyOn(PushRound.prototype, 'run').mockImplementation(function (this: PushRound, context) {
      return run.call(this, { ...context, save: async () => undefined });
    });
    await expectFound();
  },
  PATIENCE,
);

test(
  'a checkpoint that is saved without its rows is found out',
  async () => {
    vi.spyOn(SaveLinks.prototype, 'link').mockImplementation(() => undefined);
    await expectFound();
  },
  PATIENCE,
);

test(
  'a replication that does not know its own pushes is found out',
  async () => {
    changeResolve((row, found) => [row, found, undefined]);
    await expectFound();
  },
  PATIENCE,
);

test(
  'a page that is dropped while a push is under way is found out',
  async () => {
    const { pull, push } = RemoteCalls.prototype;
    const pages = new WeakMap<RemoteCalls, unknown>();
    vi.spyOn(RemoteCalls.prototype, 'pull').mockImplementation(async function (
      this: RemoteCalls,
      after,
    ) {
      const page = await pull.call(this, pages.get(this) ?? after);
      pages.set(this, page.checkpoint);
      return page;
    });
    vi.spyOn(RemoteCalls.prototype, 'push').mockImplementation(async function (
      this: RemoteCalls,
      rows,
    ) {
      const results = await push.call(this, rows);
      const page = await pull.call(this, pages.get(this));
      pages.set(this, page.checkpoint);
      return results;
    });
    await expectFound();
  },
  PATIENCE,
);

test(
  'a resolution of a local state that has changed since is found out',
  async () => {
    changeRequests(function* (request, execute) {
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
    });
    await expectFound();
  },
  PATIENCE,
);

test(
  'a merge without the common base is found out',
  async () => {
    changeResolve((row, found, origin) => [row, { ...found, base: undefined }, origin]);
    await expectFound();
  },
  PATIENCE,
);

test(
  'operations that merge as values are found out',
  async () => {
    changeRequests(function* (request, execute) {
      return request.op === 'replicaRebase' ? undefined : yield* execute(request);
    });
    await expectFound();
  },
  PATIENCE,
);

test(
  'a document that goes before its change is pushed is found out',
  async () => {
    const { takeStrays } = Replica.prototype;
    vi.spyOn(Replica.prototype, 'takeStrays').mockImplementation(function (this: Replica) {
      const changed = [...this.dirty].filter((id) => this.scopesOf(id).length === 0);
      return [...takeStrays.call(this), ...changed];
    });
    await expectFound();
  },
  PATIENCE,
);

test(
  'a document that stays though it has left its scopes is found out',
  async () => {
    changeRequests(function* (request, execute) {
      if (request.op !== 'replicaApply') return yield* execute(request);
      return yield* execute({ ...request, rows: request.rows.filter(({ left }) => !left) });
    });
    await expectFound();
  },
  PATIENCE,
);

test(
  'a server whose readers pass a push that commits late is found out',
  async () => {
    const { heldBack } = ReplicationServer.prototype;
    vi.spyOn(ReplicationServer.prototype, 'heldBack').mockImplementation(function (
      this: ReplicationServer,
    ) {
      return heldBack.call(this, new Set());
    });
    await expectFound();
  },
  PATIENCE,
);
