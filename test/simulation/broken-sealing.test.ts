import { SealedRemote } from '../../src/replication/sealed-remote.ts';
import { change, findsBroken } from './broken.ts';
import { runEncrypted } from './run-replication.ts';

/** Behind the numbers of a state is the version of the server. */
const withoutNumbers = (version: string) =>
  version.startsWith('\u0001') ? version.slice(23) : version;

const finds = findsBroken(runEncrypted, 200);

finds('an older state that the server sends again, and a device takes, is found out', () =>
  change(SealedRemote.prototype, 'pull', async (pull, ...ask) => {
    const page = await pull(...ask);
    const changes = page.changes.map((one) => ({ ...one, version: withoutNumbers(one.version) }));
    return { ...page, changes };
  }),
);

finds('a device that opens documents with its newest key alone is found out', () =>
  change(SealedRemote, 'open', (open, remote, { keys, ...settings }) =>
    open(remote, { ...settings, keys: keys.slice(0, 1) }),
  ),
);

finds('ids that change with the key of documents are found out', () =>
  change(SealedRemote, 'open', (open, remote, settings) =>
    open(remote, { ...settings, ids: settings.ids && settings.keys[0] }),
  ),
);

finds('states whose numbers a push does not count on are found out', () =>
  change(SealedRemote.prototype, 'push', (push, rows, ask) => {
    const bare = rows.map((row) => ({ ...row, base: row.base && withoutNumbers(row.base) }));
    return push(bare, ask);
  }),
);

finds('a conflict that shows the own state for that of the server is found out', () =>
  change(SealedRemote.prototype, 'push', async (push, rows, ask) => {
    const results = await push(rows, ask);
    return results.map((result, at) =>
      'conflict' in result && result.conflict.document
        ? { conflict: { ...result.conflict, document: rows[at]?.document } }
        : result,
    );
  }),
);
