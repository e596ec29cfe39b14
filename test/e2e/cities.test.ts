import { afterAll, beforeAll, describe } from 'vitest';
import { accessibilitySuite } from './accessibility.suite.ts';
import { dataSuite } from './data.suite.ts';
import { openPlayground, type Playground, runs } from './open-playground.ts';
import { querySuite } from './query.suite.ts';
import { startSuite } from './start.suite.ts';

// One visit: loading all cities takes longer than most tests here.
describe.runIf(runs('chromium'))('a visit with all cities', () => {
  let site: Playground;

  beforeAll(async () => {
    site = await openPlayground();
  });

  afterAll(() => site?.close());

  startSuite(() => site);
  querySuite(() => site);
  dataSuite(() => site);
  accessibilitySuite(() => site);
});
