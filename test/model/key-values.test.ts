import fc from 'fast-check';
import { test } from 'vitest';
import { keyValueCommand } from './key-value-commands.ts';
import { KeyValueSubject } from './key-value-subject.ts';
import { runSteps, steps } from './world.ts';

test.each([true, false])(
  'keys and values behave as a Map does, caching %s at first',
  async (caching) => {
    await fc.assert(
      fc.asyncProperty(steps(keyValueCommand), (script) =>
        runSteps(new KeyValueSubject(), script, caching),
      ),
      { numRuns: Number(process.env.MODEL_RUNS ?? 120) },
    );
  },
);
