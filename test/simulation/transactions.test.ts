import { expect, inject, test } from 'vitest';
import { seedsOf } from './run-seeds.ts';
import { runTransactions } from './transaction-simulation.ts';

test('transactions of tabs that end, freeze and fail make a serialisable history', async () => {
  for (const seed of seedsOf(100 * inject('effort'))) {
    const problems = await runTransactions(seed);
    expect(problems, `seed ${seed}\n${problems.join('\n')}`).toEqual([]);
  }
}, 3_600_000);
