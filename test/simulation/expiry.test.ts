import { expect, test } from 'vitest';
import { runExpiry } from './expiry-run.ts';
import { FIRST, SEEDS } from './run-seeds.ts';

const RUNS = SEEDS / 10;

test('whatever clocks, tabs and storage do, what has expired is never found, and nothing else is lost', async () => {
  for (let seed = FIRST; seed < FIRST + RUNS; seed++)
    expect([seed, await runExpiry(seed)]).toEqual([seed, []]);
}, 3_600_000);
