import { test } from 'vitest';
import { fc, runs } from '../setup/properties.ts';
import { keyValueCommand } from './key-value-commands.ts';
import { KeyValueSubject } from './key-value-subject.ts';
import { runSteps, steps } from './world.ts';

/** modify takes two requests. */
const atOnce = keyValueCommand.filter(({ op }) => op !== 'modify');

test.each([true, false])(
  'keys and values behave as a Map does, caching %s at first',
  async (caching) => {
    await fc.assert(
      fc.asyncProperty(steps(keyValueCommand, atOnce), (script) =>
        runSteps(new KeyValueSubject(), script, caching),
      ),
      runs(120),
    );
  },
);
