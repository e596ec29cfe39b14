import { expect, inject, test } from 'vitest';
import { runRelated } from './related-run.ts';
import { seedsOf } from './run-seeds.ts';

test('whatever tabs and storage do, no result mixes transactions of two collections', async () => {
  for (const seed of seedsOf(40 * inject('effort')))
    expect([seed, await runRelated(seed)]).toEqual([seed, []]);
}, 3_600_000);
