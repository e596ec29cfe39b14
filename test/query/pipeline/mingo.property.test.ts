import { aggregate } from 'mingo';
import { expect, test } from 'vitest';
import { fc, runs } from '../../setup/properties.ts';
import { runStages } from './run-stages.ts';

/**
 * Where mingo differs from the server, these documents and stages stay away: null and missing
 * values as keys and operands, arrays on paths, dates and mixed types in comparisons, sums of
 * fractions, `$bucket`, which makes empty buckets there, `$count` of nothing, `$addToSet` in
 * another order, and paths of stages that change nested fields in place.
 */
const document = fc.record({
  _id: fc.uuid(),
  city: fc.constantFrom('Oslo', 'Rome', 'Bonn'),
  n: fc.integer({ min: -9, max: 9 }),
  m: fc.integer({ min: 0, max: 3 }),
  deep: fc.record({ a: fc.integer({ min: 0, max: 2 }), b: fc.constantFrom('x', 'y') }),
  tags: fc.uniqueArray(fc.constantFrom('p', 'q', 'r'), { minLength: 1 }),
});

const number = fc.constantFrom('$n', '$m', '$deep.a', { $add: ['$n', '$m'] }, { $abs: '$n' });

const keeping = fc.oneof(
  fc.integer({ min: -5, max: 5 }).map((n) => ({ $match: { n: { $gt: n } } })),
  fc.constantFrom('Oslo', 'Rome').map((city) => ({ $match: { city: { $ne: city } } })),
  number.map((value) => ({ $set: { x: value, 'other.c': value } })),
  number.map((value) => ({ $addFields: { n: value } })),
  fc.constant({ $unset: ['x', 'other'] }),
  fc.constant({ $unwind: '$tags' }),
  fc.integer({ min: 1, max: 20 }).map((n) => ({ $limit: n })),
  fc.integer({ min: 0, max: 3 }).map((n) => ({ $skip: n })),
  fc.constantFrom(1, -1).map((direction) => ({ $sort: { n: direction, _id: 1 } })),
);

const totals = number.chain((value) =>
  fc.constantFrom<object>(
    { $sum: value },
    { $avg: value },
    { $min: value },
    { $max: value },
    { $first: value },
    { $last: value },
    { $push: value },
    { $sum: 1 },
    { $count: {} },
  ),
);
const id = fc.constantFrom<unknown>('$city', null, '$deep.a', '$deep', { c: '$city', m: '$m' });
const last = fc.oneof(
  fc.tuple(id, totals, totals).map(([_id, a, b]) => [{ $group: { _id, a, b } }]),
  fc.constant([{ $sortByCount: '$city' }, { $sort: { count: -1, _id: 1 } }]),
  fc.constant([{ $project: { city: 1, 'deep.a': 1, sum: { $add: ['$n', 1] } } }]),
  fc.constant([{ $project: { tags: 0, m: 0 } }]),
  fc.constant([{ $replaceRoot: { newRoot: '$deep' } }]),
  fc.constant([{ $facet: { a: [{ $limit: 2 }], b: [{ $group: { _id: '$city' } }] } }]),
  fc.constant([]),
);

test('pipelines give what mingo gives, where it agrees with the server', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(document, { maxLength: 30, selector: ({ _id }) => _id }),
      fc.array(keeping, { maxLength: 5 }),
      last,
      (documents, first, end) => {
        const pipeline = [...first, ...end];
        const copy = structuredClone(documents);
        const theirs = aggregate(structuredClone(documents), structuredClone(pipeline));
        expect(runStages(documents, pipeline)).toEqual(theirs);
        // Nothing of the documents is changed on the way.
        expect(documents).toEqual(copy);
      },
    ),
    runs(2000),
  );
});
