import { afterEach, expect, test, vi } from 'vitest';
import { SealedRemote } from '../../src/replication/sealed-remote.ts';
import { runEncrypted } from './run-replication.ts';
import { firstFailure } from './run-seeds.ts';

afterEach(() => vi.restoreAllMocks());

/** Behind the numbers of a state is the version of the server. */
const withoutNumbers = (version: string) =>
  version.startsWith('\u0001') ? version.slice(23) : version;

const PATIENCE = 600_000;
/** Each of these is found within so many seeds. */
const SOON = 200;

async function expectFound(): Promise<void> {
  const seed = await firstFailure(runEncrypted, { seeds: SOON });
  if (process.env.TRACE) console.log(expect.getState().currentTestName, seed);
  expect(seed).toBeDefined();
}

test(
  'an older state that the server sends again, and a device takes, is found out',
  async () => {
    const { pull } = SealedRemote.prototype;
    vi.spyOn(SealedRemote.prototype, 'pull').mockImplementation(async function (
      this: SealedRemote,
      ...ask
    ) {
      const page = await pull.apply(this, ask);
      const changes = page.changes.map((one) => ({ ...one, version: withoutNumbers(one.version) }));
      return { ...page, changes };
    });
    await expectFound();
  },
  PATIENCE,
);

test(
  'a device that opens documents with its newest key alone is found out',
  async () => {
    const { open } = SealedRemote;
    vi.spyOn(SealedRemote, 'open').mockImplementation((remote, { keys, ...settings }) =>
      open.call(SealedRemote, remote, { ...settings, keys: keys.slice(0, 1) }),
    );
    await expectFound();
  },
  PATIENCE,
);

test(
  'ids that change with the key of documents are found out',
  async () => {
    const { open } = SealedRemote;
    vi.spyOn(SealedRemote, 'open').mockImplementation((remote, settings) =>
      open.call(SealedRemote, remote, { ...settings, ids: settings.ids && settings.keys[0] }),
    );
    await expectFound();
  },
  PATIENCE,
);

test(
  'states whose numbers a push does not count on are found out',
  async () => {
    const { push } = SealedRemote.prototype;
    vi.spyOn(SealedRemote.prototype, 'push').mockImplementation(function (
      this: SealedRemote,
      rows,
      ask,
    ) {
      const bare = rows.map((row) => ({ ...row, base: row.base && withoutNumbers(row.base) }));
      return push.call(this, bare, ask);
    });
    await expectFound();
  },
  PATIENCE,
);

test(
  'a conflict that shows the own state for that of the server is found out',
  async () => {
    const { push } = SealedRemote.prototype;
    vi.spyOn(SealedRemote.prototype, 'push').mockImplementation(async function (
      this: SealedRemote,
      rows,
      ask,
    ) {
      const results = await push.call(this, rows, ask);
      // The state that is here is taken for that of the server.
      return results.map((result, at) =>
        'conflict' in result && result.conflict.document
          ? { conflict: { ...result.conflict, document: rows[at]?.document } }
          : result,
      );
    });
    await expectFound();
  },
  PATIENCE,
);
