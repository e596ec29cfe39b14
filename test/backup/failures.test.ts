import { describe, expect, test } from 'vitest';
import { checkWhole, cutAt, goOn, prepare } from './cut-world.ts';
import { scenarios } from './scenarios.ts';

/** One call fails, and the engine goes on; what is written after it takes part in what is kept. */
describe.each([true, false])('a failure at any call to storage, caching %s', (caching) => {
  test.each(scenarios)('in $name', async (scenario) => {
    const prepared = await prepare(scenario, caching);
    expect(prepared.calls).toContain('write');
    for (const [after, call] of prepared.calls.entries()) {
      for (const when of ['before', 'after'] as const) {
        try {
          const { driver, world } = await cutAt(prepared, { after, when, dies: false });
          const found = await goOn(prepared, driver, world);
          // What could not be made sure of while it lived may be found to have been stored.
          const present = found === 'data_damaged' ? prepared.allowed : [found];
          await checkWhole(prepared, driver, present);
        } catch (error) {
          throw new Error(`${when} ${call} ${after} of ${prepared.calls}`, { cause: error });
        }
      }
    }
  });
});
