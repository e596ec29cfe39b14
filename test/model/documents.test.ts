import { test } from 'vitest';
import { fc, runs } from '../setup/properties.ts';
import { documentSteps } from './document-commands.ts';
import { DocumentSubject } from './document-subject.ts';
import { runSteps } from './world.ts';

test.each([true, false])(
  'documents behave as an array does, caching %s at first',
  async (caching) => {
    await fc.assert(
      fc.asyncProperty(documentSteps, (script) => runSteps(new DocumentSubject(), script, caching)),
      runs(120),
    );
  },
);
