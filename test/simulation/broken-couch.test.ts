import { afterEach, expect, test, vi } from 'vitest';
import { CouchDatabase } from '../../src/replication/couchdb/couch-database.ts';
import { runCouch } from './run-replication.ts';
import { firstFailure } from './run-seeds.ts';
import { SimCouch } from './sim-couch.ts';

afterEach(() => vi.restoreAllMocks());

const PATIENCE = 600_000;
/** Each of these is found within so many seeds. */
const SOON = 300;

async function expectFound(): Promise<void> {
  const seed = await firstFailure(runCouch, { seeds: SOON });
  if (process.env.TRACE) console.log(expect.getState().currentTestName, seed);
  expect(seed).toBeDefined();
}

test(
  'a push that is not known again after its answer was lost is found out',
  async () => {
    const { handle } = SimCouch.prototype;
    vi.spyOn(SimCouch.prototype, 'handle').mockImplementation(function (
      this: SimCouch,
      { body, ...sent },
      ...how
    ) {
      const text = JSON.stringify(body)?.replaceAll(/"key":"[^"]*"/g, '"key":""');
      return handle.call(this, { ...sent, body: text && JSON.parse(text) }, ...how);
    });
    await expectFound();
  },
  PATIENCE,
);

test(
  'branches that nobody looks at are found out',
  async () => {
    const { changes } = CouchDatabase.prototype;
    vi.spyOn(CouchDatabase.prototype, 'changes').mockImplementation(async function (
      this: CouchDatabase,
      ...asked
    ) {
      const answer = await changes.apply(this, asked);
      return { ...answer, rows: answer.rows.map((row) => ({ ...row, conflicts: [] })) };
    });
    await expectFound();
  },
  PATIENCE,
);

test(
  'a branch that is deleted before its fields are in the winner is found out',
  async () => {
    const { write } = CouchDatabase.prototype;
    vi.spyOn(CouchDatabase.prototype, 'write').mockImplementation(function (
      this: CouchDatabase,
      edits,
      signal,
    ) {
      const isMerge = edits.every(({ _deleted, $cairn }) => !_deleted && !Object($cairn).key);
      // The mark has no fields that a winner could lack.
      if (!isMerge || edits.some(({ history }) => history !== undefined))
        return write.call(this, edits, signal);
      return Promise.resolve(edits.map(({ _rev }) => ({ revision: String(_rev) })));
    });
    await expectFound();
  },
  PATIENCE,
);

test(
  'a database whose older copy is taken for the same history is found out',
  async () => {
    vi.spyOn(CouchDatabase.prototype, 'knows').mockResolvedValue(true);
    await expectFound();
  },
  PATIENCE,
);
