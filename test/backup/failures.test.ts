import { describe, test } from 'vitest';
import { checkWhole, cutAt, forEachCut, goOn, prepare } from './cut-world.ts';
import { scenarios } from './scenarios.ts';

/** One call fails, and the engine goes on; what is written after it takes part in what is kept. */
describe.each([true, false])('a failure at any call to storage, caching %s', (caching) => {
  test.each(scenarios)('in $name', async (scenario) => {
    const prepared = await prepare(scenario, caching);
    await forEachCut(prepared, false, async (cut) => {
      const { driver, world } = await cutAt(prepared, cut);
      const found = await goOn(prepared, driver, world);
      // What could not be made sure of while it lived may be found to have been stored.
      const present = found === 'data_damaged' ? prepared.allowed : [found];
      await checkWhole(prepared, driver, present);
    });
  });
});
