import fc from 'fast-check';
import { test } from 'vitest';
import { documentSteps } from './document-commands.ts';
import { DocumentSubject } from './document-subject.ts';
import { runSteps } from './world.ts';

test.each([true, false])(
  'documents behave as an array does, caching %s at first',
  async (caching) => {
    await fc.assert(
      fc.asyncProperty(documentSteps, (script) => runSteps(new DocumentSubject(), script, caching)),
      { numRuns: Number(process.env.MODEL_RUNS ?? 120) },
    );
  },
);
