import { describe, expect, test } from 'vitest';
import { compileSort } from '../../../src/query/sort/compile-sort.ts';
import { fc, runs } from '../../setup/properties.ts';
import { COLLATIONS, text } from './collations.ts';
import { inCollation } from './naive-criteria.ts';
import { compareNaiveKeys, type NaiveSort, naiveSortKey } from './naive-sort.ts';
import '../../setup/rare-operators.ts';

/** Few names and values, so paths share arrays and keys are often equal. */
const scalar = fc.constantFrom<unknown[]>(null, 0, 1, 2, 'a', 'b', true, Number.NaN, new Date(5));
const value = fc.letrec<{ value: unknown; object: object; items: unknown[] }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    { arbitrary: scalar, weight: 3 },
    { arbitrary: tie('items'), weight: 3 },
    { arbitrary: tie('object'), weight: 3 },
  ),
  items: fc.array(tie('value'), { maxLength: 3 }),
  object: fc.dictionary(fc.constantFrom('a', 'x', 'y'), tie('value'), {
    maxKeys: 3,
    noNullPrototype: true,
  }),
}));
const document = fc.record({ a: value.value, b: value.value }, { noNullPrototype: true });
const path = fc.constantFrom(
  ...['a', 'b', 'a.x', 'a.y', 'a.x.y', 'a.x.x', 'b.x', 'a.0', 'a.1', 'a.0.x', 'a.1.0', 'a.x.0'],
);
const sort: fc.Arbitrary<NaiveSort> = fc.uniqueArray(
  fc.tuple(path, fc.constantFrom(1 as const, -1 as const)),
  { minLength: 1, maxLength: 3, selector: ([field]) => field },
);

describe('a sort', () => {
  test('compares documents as compound multikey keys do', () => {
    fc.assert(
      fc.property(document, document, sort, (left, right, fields) => {
        const order = compileSort(Object.fromEntries(fields));
        const expected = compareNaiveKeys(
          naiveSortKey(left, fields),
          naiveSortKey(right, fields),
          fields,
        );
        expect(Math.sign(order.compare(order.keyOf(left), order.keyOf(right)))).toBe(
          Math.sign(expected),
        );
      }),
      runs(8000),
    );
  });

  test.each(COLLATIONS)('compares strings in the collation %s', (collation, collator) => {
    const texts = fc.oneof(text, fc.array(text, { maxLength: 3 }), fc.record({ x: text }), scalar);
    const documents = fc.record({ a: texts, b: texts }, { noNullPrototype: true });
    fc.assert(
      fc.property(documents, documents, sort, (left, right, fields) => {
        const order = compileSort(Object.fromEntries(fields), collation);
        const expected = inCollation(collator, () => {
          const keys = [left, right].map((one) => naiveSortKey(one, fields));
          return compareNaiveKeys(keys[0] as unknown[], keys[1] as unknown[], fields);
        });
        expect(Math.sign(order.compare(order.keyOf(left), order.keyOf(right)))).toBe(
          Math.sign(expected),
        );
      }),
      runs(2000),
    );
  });

  test('computes the same sort key for each document as the oracle', () => {
    fc.assert(
      fc.property(document, sort, (one, fields) => {
        const key = compileSort(Object.fromEntries(fields)).keyOf(one);
        expect(fields.length === 1 ? [key] : key).toEqual(naiveSortKey(one, fields));
      }),
      runs(8000),
    );
  });
});
