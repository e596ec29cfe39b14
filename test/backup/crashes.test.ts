import { describe, test } from 'vitest';
import { cachings } from '../setup/cachings.ts';
import { checkWhole, cutAt, forEachCut, prepare } from './cut-world.ts';
import { scenarios } from './scenarios.ts';

// failures.test.ts runs the same calls without a cache.
describe.each(cachings(true))('a crash at any storage call, caching %s', (caching) => {
  test.each(scenarios)('in $name', async (scenario) => {
    const prepared = await prepare(scenario, caching);
    await forEachCut(prepared, true, async (cut) => {
      const { driver } = await cutAt(prepared, cut);
      await checkWhole(prepared, driver);
    });
  });
});
