import { aggregate } from 'mingo';
import { expect, test } from 'vitest';
import { compileAccumulator } from '../../../src/query/expressions/accumulators/compile-accumulator.ts';
import { compileExpression } from '../../../src/query/expressions/compile-expression.ts';
import { compareValues } from '../../../src/query/value/compare-values.ts';
import { fc, runs } from '../../setup/properties.ts';

/*
 * Where mingo differs from what MongoDB documents, it is no oracle; the documented cases are:
 *
 * - zones other than offsets, and UTC by its name; texts without a zone, which it reads as local
 * - `$week`, `$isoWeekYear`; `%u`, `%V`, `%G` and `%%` of formats
 * - `$dateTrunc` by month, quarter and year in January; `$dateDiff` in seconds, which it rounds
 * - `$dateAdd` of months to the last days of one; `$dateFromParts` of parts below 1
 * - `$indexOfArray` with bounds; `$indexOfCP`, which it lacks; the places of `$regexFind`
 * - `$zip` of an empty array; `$top` and `$bottom`, which it shows in an array
 * - a deviation of too few values, which is NaN there
 * - the order of null and a missing value, and fields that are missing in arrays
 */

const date = fc
  .integer({ min: Date.UTC(1902, 0), max: Date.UTC(2120, 0) })
  .map((time) => new Date(time));
const small = fc.integer({ min: -4, max: 4 });
const word = fc.constantFrom('', 'a', 'b', 'ab', 'Ba', 'aba', '💛a');
const unit = fc.constantFrom('week', 'day', 'minute');
const anyUnit = fc.constantFrom('year', 'quarter', 'month', 'week', 'day', 'minute');
const startOfWeek = fc.constantFrom('sunday', 'monday', 'thursday', 'saturday');
const documents = fc.record(
  {
    _id: fc.constant(1),
    d: date,
    e: date,
    n: small,
    count: fc.integer({ min: 1, max: 4 }),
    s: word,
    t: word,
    list: fc.array(small, { maxLength: 5 }),
    other: fc.array(small, { maxLength: 5 }),
    words: fc.array(word, { maxLength: 4 }),
  },
  { noNullPrototype: true },
);

const zone = fc.constantFrom({}, { timezone: '+05:30' });
const parts = fc.constantFrom(
  ...['$year', '$month', '$dayOfMonth', '$hour', '$minute', '$second', '$millisecond'],
  ...['$dayOfYear', '$dayOfWeek', '$isoWeek', '$isoDayOfWeek'],
);
const expressions = fc.oneof(
  fc.tuple(parts, zone).map(([name, more]) => ({ [name]: { date: '$d', ...more } })),
  fc.tuple(unit, fc.integer({ min: 1, max: 5 }), startOfWeek).map(([one, binSize, start]) => ({
    $dateTrunc: { date: '$d', unit: one, binSize, startOfWeek: start },
  })),
  fc.tuple(anyUnit, startOfWeek).map(([one, start]) => ({
    $dateDiff: { startDate: '$d', endDate: '$e', unit: one, startOfWeek: start },
  })),
  fc
    .tuple(fc.constantFrom('$dateAdd', '$dateSubtract'), unit)
    .map(([name, one]) => ({ [name]: { startDate: '$d', unit: one, amount: '$n' } })),
  fc.constantFrom<unknown>(
    { $dateToString: { date: '$d' } },
    { $dateToString: { date: '$d', format: '%Y/%m/%d %H-%M-%S.%L %j %z' } },
    { $dateToString: { date: '$d', format: '%H:%M%z', timezone: '+04:30' } },
    { $dateToParts: { date: '$d' } },
    { $dateFromParts: { year: { $year: '$d' }, month: '$count', day: '$count' } },
    { $dateFromString: { dateString: { $dateToString: { date: '$d' } } } },
  ),
  fc
    .constantFrom('$setUnion', '$setIntersection', '$setDifference', '$setEquals', '$setIsSubset')
    .map((name) => ({ [name]: ['$list', '$other'] })),
  fc.constantFrom('$allElementsTrue', '$anyElementTrue').map((name) => ({ [name]: ['$list'] })),
  fc.constantFrom<unknown>(
    { $indexOfArray: ['$list', '$n'] },
    { $sortArray: { input: '$list', sortBy: -1 } },
    { $sortArray: { input: '$words', sortBy: 1 } },
    { $zip: { inputs: ['$list', '$words'], useLongestLength: true, defaults: [0, 'z'] } },
    { $firstN: { n: '$count', input: '$list' } },
    { $lastN: { n: '$count', input: '$list' } },
    { $minN: { n: '$count', input: '$list' } },
    { $maxN: { n: '$count', input: '$list' } },
    { $stdDevPop: { $concatArrays: ['$list', ['$n', 1]] } },
    { $strcasecmp: ['$s', '$t'] },
    { $strLenBytes: '$s' },
    { $trim: { input: '$s', chars: 'ab' } },
    { $split: ['$s', 'b'] },
    { $replaceAll: { input: '$s', find: 'a', replacement: 'xx' } },
    { $toString: '$n' },
    { $convert: { input: '$s', to: 'bool' } },
    { $bitAnd: ['$n', '$count'] },
    { $bitXor: ['$n', '$count', 7] },
    { $bitNot: '$n' },
    { $atan2: ['$n', '$count'] },
    { $tanh: '$n' },
    { $unsetField: { field: 's', input: '$$ROOT' } },
    { $setField: { field: 's', input: '$$ROOT', value: '$n' } },
  ),
);

/** The field `value` of the first document that a stage makes. */
function inMingo(documents: readonly object[], stage: Record<string, unknown>): unknown {
  const [made] = aggregate(structuredClone([...documents]), [stage]);
  return (made as { value?: unknown }).value;
}

/** Sets have no order; the last digits of a deviation depend on the way to it. */
const comparable = (name: string, value: unknown) => {
  if (name.startsWith('$stdDev') && typeof value === 'number') return value.toPrecision(12);
  const isSet = name.startsWith('$set') || name === '$addToSet';
  return isSet && Array.isArray(value) ? value.toSorted(compareValues) : value;
};

test('expressions agree with mingo', () => {
  fc.assert(
    fc.property(documents, expressions, (document, expression) => {
      const [name = ''] = Object.keys(expression as object);
      const theirs = inMingo([document], { $project: { _id: 0, value: expression } });
      const { evaluate } = compileExpression(expression, 'value', { now: 0 });
      expect([expression, comparable(name, evaluate(document))]).toEqual([
        expression,
        comparable(name, theirs),
      ]);
    }),
    runs(8000),
  );
});

const rows = fc.array(fc.record({ v: fc.oneof(small, fc.constantFrom(2.5, 'a', 'b')), i: small }), {
  minLength: 1,
  maxLength: 8,
});
const accumulators = fc.oneof(
  fc
    .constantFrom('$sum', '$avg', '$min', '$max', '$first', '$last', '$push', '$addToSet')
    .map((name) => ({ [name]: '$v' })),
  fc.constantFrom<object>(
    { $count: {} },
    { $stdDevPop: '$i' },
    { $sum: { $multiply: ['$i', 2] } },
    { $mergeObjects: '$$ROOT' },
    { $firstN: { n: 2, input: '$v' } },
    { $lastN: { n: 2, input: '$v' } },
    { $minN: { n: 2, input: '$i' } },
    { $maxN: { n: 2, input: '$i' } },
    { $topN: { n: 3, sortBy: { i: -1 }, output: '$i' } },
    { $bottomN: { n: 3, sortBy: { i: -1 }, output: '$i' } },
  ),
);

test('accumulators agree with mingo', () => {
  fc.assert(
    fc.property(rows, accumulators, (documents, accumulator) => {
      const theirs = inMingo(documents, { $group: { _id: null, value: accumulator } });
      const { input, make } = compileAccumulator(accumulator, 'value', { now: 0 });
      const state = make();
      for (const document of documents) state.add(input(document));
      const [name = ''] = Object.keys(accumulator);
      expect([accumulator, comparable(name, state.result())]).toEqual([
        accumulator,
        comparable(name, theirs),
      ]);
    }),
    runs(4000),
  );
});
