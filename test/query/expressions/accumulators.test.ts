import { describe, expect, test } from 'vitest';
import { compileAccumulator } from '../../../src/query/expressions/accumulators/compile-accumulator.ts';
import { failureOf } from './failure-of.ts';

const rows: [accumulator: object, values: unknown[], expected: unknown][] = [
  [{ $sum: '$v' }, [1, 2, 'x', null, undefined, [4], 3.5], 6.5],
  [{ $sum: '$v' }, [], 0],
  [{ $sum: '$v' }, [0.1, 0.2, 0.3, -0.6], 2.7755575615628914e-17],
  [{ $sum: '$v' }, [1e308, 1e308, -1e308, 1], 1e308],
  [{ $sum: '$v' }, [1e300, 1, 1e-300, -1e300, -1], 1e-300],
  [{ $sum: '$v' }, [2 ** 53, 1, 1], 2 ** 53 + 2],
  [{ $sum: '$v' }, [2n ** 60n, 1], 2n ** 60n + 1n],
  [{ $sum: '$v' }, [3n, 1.5], 4.5],
  [{ $sum: '$v' }, [Number.POSITIVE_INFINITY, 1], Number.POSITIVE_INFINITY],
  [{ $sum: '$v' }, [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY], Number.NaN],
  [{ $sum: '$v' }, [5e-324, 5e-324], 1e-323],
  [{ $sum: 1 }, [7, 8], 2],
  [{ $count: {} }, [7, null, undefined], 3],
  [{ $avg: '$v' }, [1, 2, 'x', null], 1.5],
  [{ $avg: '$v' }, ['x'], null],
  [{ $min: '$v' }, [null, 3, undefined, 2, 'a'], 2],
  [{ $max: '$v' }, [3, 'a', [1], new Date(0)], new Date(0)],
  [{ $max: '$v' }, [null, undefined], null],
  [{ $first: '$v' }, [undefined, 2], null],
  [{ $first: '$v' }, [3, 2], 3],
  [{ $last: '$v' }, [3, 2], 2],
  [{ $last: '$v' }, [3, undefined], null],
  [{ $push: '$v' }, [3, null, undefined, [1]], [3, null, [1]]],
  [{ $push: { v: '$v', n: 1 } }, [3, undefined], [{ v: 3, n: 1 }, { n: 1 }]],
  [{ $addToSet: '$v' }, [3, 1, 3, 1n, null, undefined, [1], [1]], [null, 1, 3, [1]]],
  [
    { $addToSet: '$v' },
    [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
      { a: 1, b: 2 },
    ],
    [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ],
  ],
  [{ $stdDevPop: '$v' }, [2, 4, 4, 4, 5, 5, 7, 9, 'x'], 2],
  [{ $stdDevPop: '$v' }, [7], 0],
  [{ $stdDevPop: '$v' }, [], null],
  [{ $stdDevSamp: '$v' }, [1, 3], Math.SQRT2],
  [{ $stdDevSamp: '$v' }, [1], null],
  [{ $mergeObjects: '$v' }, [{ a: 1, b: 1 }, null, { b: 2 }], { a: 1, b: 2 }],
  [{ $firstN: { input: '$v', n: 2 } }, [undefined, 1, 2], [null, 1]],
  [{ $lastN: { input: '$v', n: 2 } }, [1, 2, null], [2, null]],
  [{ $minN: { input: '$v', n: 2 } }, [3, null, 1, undefined, 2], [1, 2]],
  [{ $maxN: { input: '$v', n: 2 } }, [3, null, 1, undefined, 2], [3, 2]],
  [{ $top: { sortBy: { v: -1 }, output: ['$i', '$v'] } }, [3, 9, 9, 1], [1, 9]],
  [{ $bottom: { sortBy: { v: -1 }, output: ['$i', '$v'] } }, [3, 9, 1, 1], [3, 1]],
  [{ $topN: { n: 2, sortBy: { v: 1 }, output: '$v' } }, [3, 2, null, 1], [null, 1]],
  [{ $bottomN: { n: 2, sortBy: { v: 1 }, output: '$v' } }, [3, 2, 4, 1], [3, 4]],
];

/** What an accumulator makes of documents `{ i, v }`. */
function resultOf(accumulator: object, values: readonly unknown[], key?: unknown): unknown {
  const { input, make } = compileAccumulator(accumulator, 'total', { now: 0 });
  const state = make(key);
  for (const [i, v] of values.entries()) state.add(input(v === undefined ? { i } : { i, v }), i);
  return state.result();
}

describe('accumulators', () => {
  test.each(rows)('%o of %o', (accumulator, values, expected) => {
    expect(resultOf(accumulator, values)).toEqual(expected);
  });

  test('keep the first of many, in the order asked for', () => {
    const values = Array.from({ length: 1000 }, (_, i) => (i * 7919) % 1000);
    const sorted = values.toSorted((a, b) => a - b);
    const of = (name: string, more = {}) => resultOf({ [name]: { n: 9, ...more } }, values);
    expect(of('$minN', { input: '$v' })).toEqual(sorted.slice(0, 9));
    expect(of('$maxN', { input: '$v' })).toEqual(sorted.toReversed().slice(0, 9));
    expect(of('$firstN', { input: '$v' })).toEqual(values.slice(0, 9));
    expect(of('$lastN', { input: '$v' })).toEqual(values.slice(-9));
    expect(of('$bottomN', { sortBy: { v: 1 }, output: '$v' })).toEqual(sorted.slice(-9));
  });

  test('take their number from the key of the group', () => {
    const first = { $firstN: { input: '$v', n: { $cond: [{ $eq: ['$g', 1] }, 1, 3] } } };
    expect(resultOf(first, [5, 6, 7, 8], { g: 1 })).toEqual([5]);
    expect(resultOf(first, [5, 6, 7, 8], { g: 2 })).toEqual([5, 6, 7]);
  });

  test('say which fields they read', () => {
    const rootsOf = (one: object) => [...compileAccumulator(one, 'x', { now: 0 }).roots].sort();
    expect(rootsOf({ $sum: { $multiply: ['$a.b', '$c'] } })).toEqual(['a', 'c']);
    expect(rootsOf({ $count: {} })).toEqual([]);
    expect(rootsOf({ $top: { sortBy: { 'a.b': 1 }, output: '$c' } })).toEqual(['a', 'c']);
  });

  test.each<[unknown, string, string]>([
    [{ $sun: 1 }, 'total.$sun', '$sum'],
    [{ constructor: 1 }, 'total.constructor', 'constructor'],
    [{}, 'total', 'one accumulator'],
    [5, 'total', 'one accumulator'],
    [{ $sum: 1, $avg: 2 }, 'total', 'one accumulator'],
    [{ $count: 1 }, 'total.$count', '{}'],
    [{ $sum: { $foo: 1 } }, 'total.$sum.$foo', '$foo'],
    [{ $topN: { sortBy: { a: 1 }, output: 1 } }, 'total.$topN', 'n'],
    [{ $top: { sortBy: { a: 2 }, output: 1 } }, 'total.$top.sortBy.a', '1 or -1'],
  ])('refuse %j', (accumulator, place, named) => {
    const error = failureOf(() => compileAccumulator(accumulator, 'total', { now: 0 }));
    expect(error).toMatchObject({ place });
    expect(error.message).toContain(named);
  });

  test.each<[object, unknown, string]>([
    [{ $mergeObjects: '$v' }, 5, 'total.$mergeObjects'],
    [{ $firstN: { input: '$v', n: 0 } }, 5, 'total.$firstN.n'],
    [{ $minN: { input: '$v', n: '$x' } }, 5, 'total.$minN.n'],
  ])('%j refuses %j', (accumulator, value, place) => {
    expect(failureOf(() => resultOf(accumulator, [value]))).toMatchObject({
      code: 'operand_invalid',
      place,
    });
  });
});
