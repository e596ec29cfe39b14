import { expect, inject, test } from 'vitest';
import { runReplication } from './run-replication.ts';
import { FIRST } from './run-seeds.ts';

/** `SEEDS=20000` runs more, `SEED=…` begins elsewhere. */
const SEEDS = Number(process.env.SEEDS ?? 50 * inject('effort'));

test.each([
  ['', SEEDS, ''],
  [', where code comes late or not at all', SEEDS / 2, 'slow code'],
  [', and what relates to what they pull is right', SEEDS / 5, 'relations'],
  [', where the server cannot read', SEEDS / 2, 'encrypted'],
  [', where changes come by streams of events', SEEDS / 2, 'streams'],
  [', over GraphQL', SEEDS / 5, 'graphql'],
  [', with CouchDB and another program', SEEDS / 5, 'couchdb'],
] as const)(
  'browsers and a server become equal, and nothing is lost without a word%s',
  async (_, seeds, mode) => {
    for (let seed = FIRST; seed < FIRST + seeds; seed++) {
      const problems = await runReplication(seed, undefined, mode);
      expect(problems, `seed ${seed}\n${problems.join('\n')}`).toEqual([]);
    }
  },
  3_600_000,
);

test.each([
  ['a server that repeats documents sends no more than requested', 'graphql', 30_076],
] as const)('%s', async (_, mode, seed) => {
  expect(await runReplication(seed, undefined, mode)).toEqual([]);
});
