import { expect, test } from 'vitest';
import { fc, runs } from '../../setup/properties.ts';
import { definition, type Fields, IndexedWorld } from './indexed-world.ts';

/** Shared by all runs: most of the time goes into building them. */
const LONG = [999_999, 1_000_000, 1_000_001, 3_000_000].flatMap((length) =>
  ['a', 'ab', '\uffff'].map((start) => start + 'b'.repeat(length - start.length)),
);

const text = fc.constantFrom(...['', 'a', 'ab', 'abb', 'b', '\uffff'], ...LONG);
const value = fc.oneof(text, fc.array(text, { maxLength: 2 }), fc.constantFrom(null, 1));
const document = fc.record({ a: value, b: text }, { requiredKeys: [] });
const pattern = fc.constantFrom(/^a/, /^ab/, /^abb/, /^ab*$/, /^\uffff/, /b$/, /^a|^b/, /^A/i);
const condition = fc.oneof(
  pattern,
  pattern.map(($not) => ({ $not })),
  text,
  fc.tuple(pattern, text).map(($in) => ({ $in })),
  fc.tuple(pattern, text).map(($nin) => ({ $nin })),
  ...['$gt', '$gte', '$lt', '$lte', '$ne'].map((name) => text.map((each) => ({ [name]: each }))),
);
const fields: fc.Arbitrary<Fields> = fc.dictionary(fc.constantFrom('a', 'b'), condition, {
  minKeys: 1,
  noNullPrototype: true,
});
const criteria = fc.oneof(
  fields,
  fc.array(fields, { minLength: 1, maxLength: 2 }).map(($or): Fields => ({ $or })),
);
const sort = fc.constantFrom<(Fields | undefined)[]>(
  undefined,
  { a: 1 },
  { a: -1 },
  { b: 1, a: 1 },
);

test('a result does not depend on indexes where strings are long', () => {
  fc.assert(
    fc.property(
      fc.array(document, { maxLength: 6 }),
      criteria,
      sort,
      fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
      (documents, asked, order, limit) => {
        const query = { criteria: asked, sort: order, limit };
        const expected = new IndexedWorld([], documents).byScan(query);
        for (const indexes of [
          [definition('a'), definition('b')],
          [definition('a', true), definition(['b', 'a'])],
        ])
          expect(new IndexedWorld(indexes, documents).byPlan(query)).toEqual(expected);
      },
    ),
    runs(400),
  );
});
