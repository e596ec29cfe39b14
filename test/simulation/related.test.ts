import { expect, inject, test } from 'vitest';
import { runRelated } from './related-run.ts';
import { FIRST } from './run-seeds.ts';

/** `SEEDS=20000` runs more, `SEED=…` begins elsewhere. */
const RUNS = Number(process.env.SEEDS ?? 40 * inject('effort'));

test('whatever tabs and storage do, no result mixes transactions of two collections', async () => {
  for (let seed = FIRST; seed < FIRST + RUNS; seed++)
    expect([seed, await runRelated(seed)]).toEqual([seed, []]);
}, 3_600_000);
