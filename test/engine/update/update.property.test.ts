import { describe, test } from 'vitest';
import { deepFreeze } from '../../../src/codec/deep-freeze.ts';
import { CairnError } from '../../../src/errors/errors.ts';
import { fc, runs } from '../../setup/properties.ts';
import { anyChanges, anyDocument, anyUpdate, document, updates } from './arbitrary-updates.ts';
import { compile, expectSame, NOW, updated } from './cases.ts';

const worlds: Record<string, readonly [fc.Arbitrary<object>, fc.Arbitrary<object>]> = {
  'that fit the document': [document, updates],
  'with any operands': [anyDocument, anyUpdate],
  'of any form': [anyDocument, anyChanges],
};

for (const [name, [documents, changes]] of Object.entries(worlds)) {
  describe(`changes ${name}`, () => {
    test('stay as they were, and are refused with errors of Cairn alone', () => {
      fc.assert(
        fc.property(documents, changes, (before, asked) => {
          const given = structuredClone(asked);
          // A step that changes an operand fails with a TypeError.
          outcome(before, deepFreeze(asked));
          expectSame(asked, given);
        }),
        runs(4000),
      );
    });

    test('give equal documents for equal documents', () => {
      fc.assert(
        fc.property(documents, changes, (before, asked) => {
          const once = outcome(before, asked);
          expectSame(outcome(before, asked), once);
          if (typeof once === 'string') return;
          const update = compile(asked);
          const first = update.apply(structuredClone(before), NOW);
          expectSame(update.apply(structuredClone(before), NOW), once);
          expectSame(first, once);
        }),
        runs(1000),
      );
    });
  });
}

test('the order of operators and of their paths does not matter', () => {
  fc.assert(
    fc.property(document, updates, (before, asked) => {
      const turned = reversed(asked).map(([name, paths]) => [
        name,
        Object.fromEntries(reversed(paths as object)),
      ]);
      expectSame(updated(before, Object.fromEntries(turned)), updated(before, asked));
    }),
    runs(1000),
  );
});

function reversed(object: object): [string, unknown][] {
  return Object.entries(object).reverse();
}

/** The document, or the error; only errors of Cairn are expected. */
function outcome(before: object, asked: object): object | string {
  try {
    return updated(before, asked);
  } catch (error) {
    if (error instanceof CairnError) return `${error.code} at ${error.place}`;
    throw error;
  }
}
