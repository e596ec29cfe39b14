import { expect, inject, test } from 'vitest';
import { FIRST } from './run-seeds.ts';
import { runTransactions } from './transaction-simulation.ts';

/** `SEEDS=20000` runs more, `SEED=…` begins elsewhere. */
const SEEDS = Number(process.env.SEEDS ?? 100 * inject('effort'));

test('transactions of tabs that end, freeze and fail make a serialisable history', async () => {
  for (let seed = FIRST; seed < FIRST + SEEDS; seed++) {
    const problems = await runTransactions(seed);
    expect(problems, `seed ${seed}\n${problems.join('\n')}`).toEqual([]);
  }
}, 3_600_000);
