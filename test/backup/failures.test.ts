import { describe, test } from 'vitest';
import { cachings } from '../setup/cachings.ts';
import { checkWhole, cutAt, forEachCut, goOn, prepare } from './cut-world.ts';
import { scenarios } from './scenarios.ts';

// One call fails, and the engine goes on with further writes. Without a cache it reads more.
describe.each(cachings(false))('a failure at any storage call, caching %s', (caching) => {
  test.each(scenarios)('in $name', async (scenario) => {
    const prepared = await prepare(scenario, caching);
    await forEachCut(prepared, false, async (cut) => {
      const { driver, world } = await cutAt(prepared, cut);
      const found = await goOn(prepared, driver, world);
      // An outcome in doubt may turn out to be durable after a restart.
      const present = found === 'data_damaged' ? prepared.allowed : [found];
      await checkWhole(prepared, driver, present);
    });
  });
});
