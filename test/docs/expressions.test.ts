import { expect, test } from 'vitest';
import { compileAccumulator } from '../../src/query/expressions/accumulators/compile-accumulator.ts';
import { compileExpression } from '../../src/query/expressions/compile-expression.ts';
import { failureOf } from '../query/expressions/failure-of.ts';
import { readText } from './pages.ts';

const [expressions = '', accumulators = ''] = readText('docs/reference/expressions.md').split(
  /## Accumulators|## Null/,
);

const document = {
  ...{ n: 5, x: 2.5, text: 'Café 💛', tags: ['a', 'b', 'a'], list: [3, 1, null, 2] },
  lines: [
    { sku: 'a', n: 2 },
    { sku: 'b', n: 3 },
  ],
  ...{ o: { a: 1, b: 2 }, none: null, at: new Date('2017-06-19T15:08:51.321Z') },
};
const group = [{ name: 'a', n: 3 }, { name: 'b', n: 1 }, { name: 'c' }, { name: 'd', n: 2 }];

/** Pairs of what a table shows in its first two columns, where the second has code. */
function rowsOf(page: string): [code: string, result: string][] {
  return [...page.matchAll(/^\| (`.+?`) \| (`.+?`) \|/gm)].flatMap(
    ([, first = '', second = '']) => {
      const [codes, results] = [first, second].map((cell) => cell.slice(1, -1).split('`, `'));
      expect(codes?.length, `${first} has as many results`).toBe(results?.length);
      return (codes ?? []).map((code, at): [string, string] => [code, results?.[at] as string]);
    },
  );
}

const DATE = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;
const valueOfCode = (code: string): unknown =>
  DATE.test(code) ? new Date(code) : new Function(`return (${code})`)();

const ofExpressions = rowsOf(expressions);
const ofAccumulators = rowsOf(accumulators);

test.each(ofExpressions)('%s gives %s', (code, result) => {
  const { evaluate } = compileExpression(valueOfCode(code), '$expr', { now: 0 });
  expect(evaluate(document)).toEqual(valueOfCode(result));
});

test.each(ofAccumulators)('of a group %s gives %s', (code, result) => {
  const { input, make } = compileAccumulator(valueOfCode(code), 'value', { now: 0 });
  const state = make();
  for (const one of group) state.add(input(one));
  expect(state.result()).toEqual(valueOfCode(result));
});

test('the page shows every operator', () => {
  const known = (error: Error) =>
    error.message.split('Allowed here: ')[1]?.replace(/\.$/, '').split(', ') ?? [];
  const missing = (page: string, names: string[]) =>
    names.filter((name) => !new RegExp(`\\${name}\\b`).test(page));
  const none = { $none: 1 };
  expect(
    missing(expressions, known(failureOf(() => compileExpression(none, 'x', { now: 0 })))),
  ).toEqual([]);
  expect(
    missing(accumulators, known(failureOf(() => compileAccumulator(none, 'x', { now: 0 })))),
  ).toEqual([]);
});
