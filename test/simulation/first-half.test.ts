import { beforeAll, test } from 'vitest';
import { FIRST, runEverySecond, warmUp } from './run-seeds.ts';

beforeAll(warmUp);

test('tabs that write, end, freeze and fail lose nothing and make nothing twice', async () => {
  await runEverySecond(FIRST);
}, 3_600_000);
