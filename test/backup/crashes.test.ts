import { describe, expect, test } from 'vitest';
import { checkWhole, cutAt, prepare } from './cut-world.ts';
import { scenarios } from './scenarios.ts';

describe.each([true, false])('a crash at any call to storage, caching %s', (caching) => {
  test.each(scenarios)('in $name', async (scenario) => {
    const prepared = await prepare(scenario, caching);
    expect(prepared.calls).toContain('write');
    for (const [after, call] of prepared.calls.entries()) {
      // A read is the same before and after.
      for (const when of call === 'write'
        ? (['before', 'after'] as const)
        : (['before'] as const)) {
        try {
          const { driver } = await cutAt(prepared, { after, when, dies: true });
          await checkWhole(prepared, driver);
        } catch (error) {
          throw new Error(`${when} ${call} ${after} of ${prepared.calls}`, { cause: error });
        }
      }
    }
  });
});
