import { describe, expect, test } from 'vitest';
import { compileExpression } from '../../../src/query/expressions/compile-expression.ts';
import { failureOf } from './failure-of.ts';

const many = Array.from({ length: 2000 }, (_, at) => at);
const document = {
  list: many,
  rows: Array.from({ length: 500 }, () => [1, 2, 3, 4]),
  text: 'x'.repeat(100_000),
};

const range = (end: unknown) => ({ $range: [0, end] });
const count = { $size: '$list' };
const map = (input: unknown, body: unknown) => ({ $map: { input, in: body } });
const sumOf = (input: unknown, body: unknown) => ({ $sum: map(input, body) });
const million = range({ $multiply: [500, count] });

const of = (expression: unknown) =>
  compileExpression(expression, '$expr', { now: 0 }).evaluate(document);

/** Each would run for minutes or for years. */
const endless: Record<string, unknown> = {
  'ranges in a map': sumOf(million, { $sum: million }),
  'maps in maps': sumOf(million, sumOf(million, sumOf(million, '$$this'))),
  'filters in a reduce': {
    $reduce: {
      input: million,
      initialValue: 0,
      in: { $size: { $filter: { input: '$list', cond: { $gt: ['$$this', '$$value'] } } } },
    },
  },
  'arrays in a filter': { $filter: { input: million, cond: { $in: [-1, '$list'] } } },
  'totals in a filter': { $filter: { input: million, cond: { $eq: [{ $sum: '$list' }, 1] } } },
  'sets in a map': map(million, { $setUnion: ['$list', '$list'] }),
  'texts in a map': map(million, { $strLenCP: '$text' }),
  'comparisons of arrays in a map': map(million, { $eq: ['$list', { $reverseArray: '$list' }] }),
};

describe('an expression whose loops would not end is refused', () => {
  test.each(Object.keys(endless))('%s', (name) => {
    const error = failureOf(() => of(endless[name]));
    expect(error.code).toBe('operand_invalid');
    expect(error.place).toMatch(/^\$expr\./);
    expect(error.message).toContain('steps');
  });
});

test('loops over the arrays of a document are not', () => {
  expect(of(sumOf('$list', sumOf('$list', 1)))).toBe(4_000_000);
  expect(of(sumOf('$list', { $arrayElemAt: ['$list', '$$this'] }))).toBe(1_999_000);
  const flat = { $concatArrays: ['$$value', '$$this'] };
  const flattened = { $reduce: { input: '$rows', initialValue: [], in: flat } };
  expect(of({ $size: flattened })).toBe(2000);
});

test('each document has its own steps', () => {
  const { evaluate } = compileExpression(sumOf('$list', sumOf('$list', 1)), '$expr', { now: 0 });
  for (let turn = 0; turn < 3; turn++) expect(evaluate(document)).toBe(4_000_000);
});
