import { afterEach, expect, test, vi } from 'vitest';
import { VersionHistory } from '../../src/engine/records/open-snapshots.ts';
import { AppliedChanges } from '../../src/engine/records/pending-changes.ts';
import { ReadSet } from '../../src/engine/records/read-set.ts';
import { SaveLinks } from '../../src/engine/save-schedule.ts';
import { SessionTransactions } from '../../src/engine/transactions/session-transactions.ts';
import { TransactionPart } from '../../src/engine/transactions/transaction.ts';
import { ReplayBuffer } from '../../src/page/connection/replay.ts';
import { firstFailure } from './run-seeds.ts';
import { runTransactions } from './transaction-simulation.ts';

afterEach(() => vi.restoreAllMocks());

const PATIENCE = 600_000;
/** Each of these is found within so many seeds. */
const SOON = 300;

/** Expects the broken engine to be found out soon. */
async function expectFound(): Promise<void> {
  const seed = await firstFailure(runTransactions);
  expect(seed).toBeLessThan(SOON);
}

/** Lets a replayed commit be repeated in another way. */
function changeReplay(
  change: (
    transactions: SessionTransactions,
    ...args: Parameters<typeof reapply>
  ) => ReturnType<typeof reapply>,
): void {
  vi.spyOn(SessionTransactions.prototype, 'reapply').mockImplementation(function (
    this: SessionTransactions,
    ...args
  ) {
    return change(this, ...args);
  });
}

const { reapply } = SessionTransactions.prototype;

test(
  'a commit that compares nothing is found out',
  async () => {
    const { isOutdated } = TransactionPart.prototype;
    vi.spyOn(TransactionPart.prototype, 'isOutdated').mockImplementation(function* (
      this: TransactionPart,
    ) {
      yield* isOutdated.call(this);
      return false;
    });
    await expectFound();
  },
  PATIENCE,
);

test(
  'a commit that does not compare queries is found out: phantoms',
  async () => {
    vi.spyOn(ReadSet.prototype, 'addQuery').mockImplementation(() => undefined);
    await expectFound();
  },
  PATIENCE,
);

test(
  'a commit that does not compare keys is found out',
  async () => {
    vi.spyOn(ReadSet.prototype, 'addKey').mockImplementation(() => undefined);
    await expectFound();
  },
  PATIENCE,
);

test(
  'a transaction that sees what others commit meanwhile is found out',
  async () => {
    vi.spyOn(VersionHistory.prototype, 'since').mockImplementation(() => []);
    await expectFound();
  },
  PATIENCE,
);

test(
  'a commit that puts only a part of its changes is found out',
  async () => {
    const { changes } = TransactionPart.prototype;
    let commits = 0;
    vi.spyOn(TransactionPart.prototype, 'changes').mockImplementation(function (
      this: TransactionPart,
    ) {
      const all = changes.call(this);
      return ++commits % 5 > 0 ? all : { ...all, versions: all.versions.slice(1) };
    });
    await expectFound();
  },
  PATIENCE,
);

test(
  'half a replay is found out',
  async () => {
    changeReplay((transactions, request, order) => {
      const half = request.changes.slice(0, Math.ceil(request.changes.length / 2));
      return reapply.call(transactions, { ...request, changes: half }, order);
    });
    await expectFound();
  },
  PATIENCE,
);

test(
  'a commit that is not replayed is found out',
  async () => {
    const { note } = ReplayBuffer.prototype;
    vi.spyOn(ReplayBuffer.prototype, 'note').mockImplementation(function (
      this: ReplayBuffer,
      ...args
    ) {
      const added = note.apply(this, args);
      this.drop(new Set(this.all().filter(({ request }) => request.op === 'commit')));
      return added;
    });
    await expectFound();
  },
  PATIENCE,
);

test(
  'a commit that is replayed though it was saved is found out',
  async () => {
    const { has } = AppliedChanges.prototype;
    let isReplay = false;
    vi.spyOn(AppliedChanges.prototype, 'has').mockImplementation(function (
      this: AppliedChanges,
      key,
    ) {
      return !isReplay && has.call(this, key);
    });
    changeReplay(async (transactions, request, order) => {
      isReplay = true;
      const repeated = reapply.call(transactions, request, order);
      isReplay = false;
      await repeated;
    });
    await expectFound();
  },
  PATIENCE,
);

test(
  'a transaction that is saved in two writes is found out',
  async () => {
    vi.spyOn(SaveLinks.prototype, 'link').mockImplementation(() => undefined);
    await expectFound();
  },
  PATIENCE,
);
