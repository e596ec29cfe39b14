import { VersionHistory } from '../../src/engine/records/open-snapshots.ts';
import { AppliedChanges } from '../../src/engine/records/pending-changes.ts';
import { ReadSet } from '../../src/engine/records/read-set.ts';
import { SaveLinks } from '../../src/engine/save-schedule.ts';
import { SessionTransactions } from '../../src/engine/transactions/session-transactions.ts';
import { TransactionPart } from '../../src/engine/transactions/transaction.ts';
import { ReplayBuffer } from '../../src/page/connection/replay.ts';
import { change, findsBroken } from './broken.ts';
import { runTransactions } from './transaction-simulation.ts';

const finds = findsBroken(runTransactions);

finds('a commit that compares nothing is found out', () =>
  change(TransactionPart.prototype, 'isOutdated', function* (isOutdated) {
    yield* isOutdated();
    return false;
  }),
);

finds('a commit that does not compare queries is found out: phantoms', () =>
  change(ReadSet.prototype, 'addQuery', () => undefined),
);

finds('a commit that does not compare keys is found out', () =>
  change(ReadSet.prototype, 'addKey', () => undefined),
);

finds('a transaction that sees what others commit meanwhile is found out', () =>
  change(VersionHistory.prototype, 'since', () => []),
);

finds('a commit that puts only a part of its changes is found out', () => {
  let commits = 0;
  change(TransactionPart.prototype, 'changes', (changes) => {
    const all = changes();
    return ++commits % 5 > 0 ? all : { ...all, versions: all.versions.slice(1) };
  });
});

finds('half a replay is found out', () =>
  change(SessionTransactions.prototype, 'reapply', (reapply, request, order) => {
    const half = request.changes.slice(0, Math.ceil(request.changes.length / 2));
    return reapply({ ...request, changes: half }, order);
  }),
);

finds('a commit that is not replayed is found out', () =>
  change(ReplayBuffer.prototype, 'note', function (note, ...args) {
    const added = note(...args);
    this.drop(new Set(this.all().filter(({ request }) => request.op === 'commit')));
    return added;
  }),
);

finds('a commit that is replayed though it was saved is found out', () => {
  let isReplay = false;
  change(AppliedChanges.prototype, 'has', (has, key) => !isReplay && has(key));
  change(SessionTransactions.prototype, 'reapply', async (reapply, request, order) => {
    isReplay = true;
    const repeated = reapply(request, order);
    isReplay = false;
    await repeated;
  });
});

finds('a transaction that is saved in two writes is found out', () =>
  change(SaveLinks.prototype, 'link', () => undefined),
);
