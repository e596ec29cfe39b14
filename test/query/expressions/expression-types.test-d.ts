import { test } from 'vitest';
import type { Criteria } from '../../../src/query/criteria/criteria-types.ts';
import type { AccumulatorExpression, Expression } from '../../../src/query/expression-types.ts';

const take = (_expression: Expression): void => {};
const accumulate = (_accumulator: AccumulatorExpression): void => {};

test('values, paths, operators and objects of them are expressions', () => {
  take('$a.b');
  take(5n);
  take(new Date(0));
  take({ $add: ['$a', 1, { $abs: '$b' }] });
  take({ $year: '$at' });
  take({ $year: { date: '$at', timezone: 'Europe/Oslo' } });
  take({ $dateTrunc: { date: '$at', unit: 'month', binSize: 2 } });
  take({ $map: { input: '$lines', as: 'line', in: { $multiply: ['$$line.n', '$$line.price'] } } });
  take({ total: { $sum: '$n' }, at: '$$NOW', nested: { list: ['$a', { $not: '$b' }] } });
  take({ $let: { vars: { a: '$n' }, in: { $gt: ['$$a', 2] } } });
  take({ $getField: { field: { $literal: '$price' }, input: '$$ROOT' } });
  take({ $literal: { anything: Symbol.iterator } });
});

test('an expression may be put into a variable first', () => {
  const over = { $expr: { $gt: ['$spent', '$budget'] } };
  const sorted = { $sortArray: { input: '$list', sortBy: { n: -1 } } };
  const month = { $dateTrunc: { date: '$at', unit: 'month' } };
  const criteria: Criteria<{ spent: number; budget: number }> = over;
  take(sorted);
  take(month);
  return criteria;
});

test('unknown operators, and names of arguments, are refused', () => {
  // @ts-expect-error There is none of this name.
  take({ $ad: ['$a', 1] });
  // @ts-expect-error It needs a unit.
  take({ $dateTrunc: { date: '$at' } });
  // @ts-expect-error There is no argument of this name.
  take({ $trim: { input: '$a', characters: 'x' } });
  // @ts-expect-error It needs a list.
  take({ $gt: '$a' });
  // @ts-expect-error Within others too.
  take({ a: { $not: { $foo: 1 } } });
});

test('accumulators have their names and operands', () => {
  accumulate({ $sum: { $multiply: ['$n', '$price'] } });
  accumulate({ $count: {} });
  accumulate({ $topN: { n: 3, sortBy: { at: -1 }, output: ['$name', '$at'] } });
  // @ts-expect-error It takes none.
  accumulate({ $count: { a: 1 } });
  // @ts-expect-error It needs a number.
  accumulate({ $firstN: { input: '$a' } });
  // @ts-expect-error There is none of this name.
  accumulate({ $total: '$a' });
});
