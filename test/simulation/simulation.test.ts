import { beforeAll, expect, test } from 'vitest';
import { Database } from '../../src/index.ts';
import { run } from './run.ts';

const FIRST = Number(process.env.SEED ?? 1);
const SEEDS = Number(process.env.SEEDS ?? 200);

// What loads on demand is loaded: reading modules takes time of no simulated clock.
beforeAll(async () => {
  const db = new Database({ name: 'warm-up', storage: 'memory' });
  await new db.Collection({ name: 'notes', type: 'DOCUMENT_BASED' }).insert({});
  await new db.Collection({ name: 'log', type: 'KEY_VALUE_BASED' }).push('all', 1);
  await db.close();
});

test(`${SEEDS} runs of tabs that write, end, freeze and fail: nothing is lost, nothing made twice`, async () => {
  const began = performance.now();
  for (let seed = FIRST; seed < FIRST + SEEDS; seed++) {
    expect([seed, await run(seed)]).toEqual([seed, []]);
  }
  const seconds = (performance.now() - began) / 1000;
  console.log(`${Math.round(SEEDS / seconds)} seeds a second`);
}, 600_000);
