import { Query } from 'mingo';
import { describe, expect, test } from 'vitest';
import { compileCriteria } from '../../../src/query/criteria/compile-criteria.ts';
import { compileItemCriteria } from '../../../src/query/criteria/item-criteria.ts';
import { compareValues, equalValues } from '../../../src/query/value/compare-values.ts';
import { fc, runs } from '../../setup/properties.ts';
import * as arbitrary from './arbitrary-criteria.ts';
import { COLLATIONS, text } from './collations.ts';
import { inCollation, naiveMatch, naiveMatchItem, naiveOrder } from './naive-criteria.ts';
import '../../setup/rare-operators.ts';

const everyOperator = [
  '$eq',
  '$ne',
  '$gt',
  '$gte',
  '$lt',
  '$lte',
  '$in',
  '$nin',
  '$all',
  '$not',
  '$exists',
  '$type',
  '$regex',
  '$size',
  '$elemMatch',
  '$mod',
];

const odd = fc.oneof(
  { arbitrary: arbitrary.value, weight: 4 },
  { arbitrary: arbitrary.oddValue, weight: 1 },
);

describe('compiled criteria agree with the naive implementation of the rules', () => {
  const criteria = arbitrary.criteria({ operand: arbitrary.value, operators: everyOperator });

  test('for documents of plain values', () => {
    fc.assert(
      fc.property(
        criteria,
        fc.array(arbitrary.document, { minLength: 4, maxLength: 8 }),
        (asked, documents) => {
          const compiled = compileCriteria(asked);
          for (const document of documents) {
            expect(compiled.test(document)).toBe(naiveMatch(document, asked));
          }
        },
      ),
      runs(3000),
    );
  });

  for (const operator of everyOperator) {
    test(`for ${operator} alone, with values outside JSON`, () => {
      const alone = arbitrary.criteria({ operand: odd, operators: [operator] });
      const documents = fc.dictionary(
        fc.constantFrom('a', 'b', '0'),
        fc.oneof(odd, fc.array(odd, { maxLength: 3 })),
      );
      fc.assert(
        fc.property(alone, documents, (asked, document) => {
          expect(compileCriteria(asked).test({ ...document })).toBe(naiveMatch(document, asked));
        }),
        runs(400),
      );
    });
  }

  test.each(COLLATIONS)('for strings in the collation %s', (collation, collator) => {
    const operand = fc.oneof(
      { arbitrary: text, weight: 4 },
      { arbitrary: odd, weight: 1 },
      { arbitrary: fc.record({ a: text }, { noNullPrototype: true }), weight: 1 },
    );
    const asked = arbitrary.criteria({ operand, operators: everyOperator });
    const documents = fc.dictionary(
      fc.constantFrom('a', 'b', '0'),
      fc.oneof(operand, fc.array(operand, { maxLength: 3 })),
    );
    fc.assert(
      fc.property(asked, documents, (criteria, document) => {
        const expected = inCollation(collator, () => naiveMatch(document, criteria));
        expect(compileCriteria(criteria, collation).test({ ...document })).toBe(expected);
      }),
      runs(1500),
    );
  });

  test('for items of an array', () => {
    const operators = arbitrary.criteria({ operand: arbitrary.value, operators: everyOperator });
    fc.assert(
      fc.property(operators, arbitrary.value, (asked, item) => {
        expect(compileItemCriteria(asked)(item)).toBe(naiveMatchItem(item, asked));
      }),
      runs(1000),
    );
  });
});

/**
 * mingo is the second oracle. Left out are its differences from the server:
 * - paths through arrays in arrays, which it unwinds at every level and the server does not;
 *   numeric segments; `{ 'a.b': [] }`, which it matches to `{ a: [] }`
 * - null: it does not match missing for `$gte`, `$lte`, `$all`, nor for the objects of an array
 * - `$exists`, `$size` and `$type` over an array of objects, which it applies to the list of
 *   collected values
 * - `$type` with an array at the end of the path, whose items it ignores
 * - `$mod`, which it applies to booleans, null and strings, and whose fractions it keeps
 * - `$all` over a single value, which it never matches
 * - the order of arrays and of objects
 */
test('compiled criteria agree with mingo where mingo follows the server', () => {
  const scalar = fc.constantFrom<unknown[]>(0, 1, 2, -3, 1.5, '', 'a', 'b', true, false);
  const flat = fc.oneof(scalar, fc.array(scalar, { minLength: 1, maxLength: 3 }));
  const object = fc.record({ a: scalar, b: scalar }, { requiredKeys: [], noNullPrototype: true });
  const document = fc.record(
    { a: flat, b: flat, c: object, d: fc.array(object, { minLength: 1, maxLength: 3 }) },
    { requiredKeys: [], noNullPrototype: true },
  );
  const number = fc.constantFrom(0, 1, 2, -3, 1.5);
  const scalars = fc.array(scalar, { minLength: 1, maxLength: 3 });
  const anywhere = [
    fc.record({ $eq: scalar }),
    fc.record({ $ne: scalar }),
    fc.record({ $gt: number }),
    fc.record({ $gte: number, $lt: number }),
    fc.record({ $lte: fc.constantFrom('a', 'b') }),
    fc.record({ $in: scalars }),
    fc.record({ $nin: scalars }),
    fc.record({ $not: fc.record({ $gt: number }) }),
    fc.record({ $regex: fc.constantFrom('a', '^b') }),
  ];
  const atTheEnd = [
    fc.record({ $exists: fc.boolean() }),
    fc.record({ $size: fc.nat(3) }),
    fc.record({ $elemMatch: fc.record({ $gte: number }) }),
  ];
  const fields = fc
    .tuple(
      fc.dictionary(fc.constantFrom('a', 'b', 'c.a', 'c.b'), fc.oneof(...anywhere, ...atTheEnd)),
      fc.dictionary(fc.constantFrom('d.a', 'd.b'), fc.oneof(...anywhere), { maxKeys: 1 }),
    )
    .map(([one, other]): Record<string, unknown> => ({ ...one, ...other }));
  const lists = fc.array(fields, { minLength: 1, maxLength: 2 });
  const asked = fc.oneof(
    fields,
    lists.map(($or) => ({ $or })),
    lists.map(($nor) => ({ $nor })),
  );
  fc.assert(
    fc.property(asked, document, (criteria, document) => {
      expect(compileCriteria(criteria).test(document)).toBe(new Query(criteria).test(document));
    }),
    runs(3000),
  );
});

describe('the order of values', () => {
  test('equals the naive order and is total', () => {
    fc.assert(
      fc.property(odd, odd, odd, (a, b, c) => {
        expect(Math.sign(compareValues(a, b))).toBe(Math.sign(naiveOrder(a, b)));
        expect(Math.sign(compareValues(a, b)) + Math.sign(compareValues(b, a))).toBe(0);
        expect(equalValues(a, b)).toBe(compareValues(a, b) === 0);
        if (compareValues(a, b) <= 0 && compareValues(b, c) <= 0) {
          expect(compareValues(a, c)).toBeLessThanOrEqual(0);
        }
      }),
      runs(3000),
    );
  });
});
