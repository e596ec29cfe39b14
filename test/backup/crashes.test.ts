import { describe, test } from 'vitest';
import { checkWhole, cutAt, forEachCut, prepare } from './cut-world.ts';
import { scenarios } from './scenarios.ts';

describe.each([true, false])('a crash at any storage call, caching %s', (caching) => {
  test.each(scenarios)('in $name', async (scenario) => {
    const prepared = await prepare(scenario, caching);
    await forEachCut(prepared, true, async (cut) => {
      const { driver } = await cutAt(prepared, cut);
      await checkWhole(prepared, driver);
    });
  });
});
