import { expect, inject, test } from 'vitest';
import { runReplication } from './run-replication.ts';
import { FIRST } from './run-seeds.ts';

/** `SEEDS=20000` runs more, `SEED=…` begins elsewhere. */
const SEEDS = Number(process.env.SEEDS ?? 50 * inject('effort'));

test('browsers and a server become equal, and nothing is lost without a word', async () => {
  for (let seed = FIRST; seed < FIRST + SEEDS; seed++) {
    const problems = await runReplication(seed);
    expect(problems, `seed ${seed}\n${problems.join('\n')}`).toEqual([]);
  }
}, 3_600_000);
