import { test } from 'vitest';
import { FIRST, runEverySecond } from './run-seeds.ts';

test('tabs that write, end, freeze and fail lose nothing and make nothing twice', async () => {
  await runEverySecond(FIRST);
}, 3_600_000);
