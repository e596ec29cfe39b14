import { update } from 'mingo/updater';
import { describe, expect, test } from 'vitest';
import { sameValue } from '../../../src/codec/same-value.ts';
import { CairnError } from '../../../src/errors/errors.ts';
import { fc, runs } from '../../setup/properties.ts';
import { document, updates } from './arbitrary-updates.ts';
import { shown, updated } from './cases.ts';
import { differences } from './mingo-differences.ts';

function byMingo(before: object, asked: object): object {
  const fields: Record<string, unknown> = { ...structuredClone(before) };
  update(fields, asked, [], {}, { cloneMode: 'deep' });
  return fields;
}

test('updates agree with mingo where mingo follows the server', () => {
  fc.assert(
    fc.property(document, updates, (before, asked) => {
      // The order of new fields is one of the differences.
      expect(updated(before, asked), shown([before, asked])).toEqual(byMingo(before, asked));
    }),
    runs(6000),
  );
});

describe('mingo differs, and is left out there', () => {
  test.each(differences)('$says', ({ before, changes: asked, server, mingo }) => {
    const ours = outcome(() => updated(before, asked));
    const theirs = outcome(() => byMingo(before, asked));
    expect(sameValue(ours, server), shown(ours)).toBe(true);
    const expected = typeof mingo === 'string' ? expect.stringContaining(mingo) : mingo;
    expect(theirs).toEqual(expected);
    expect(sameValue(theirs, ours)).toBe(false);
  });
});

/** The document, or the error: its code, or its message where it has none. */
function outcome(run: () => object): unknown {
  try {
    return run();
  } catch (error) {
    return error instanceof CairnError ? error.code : (error as Error).message;
  }
}
