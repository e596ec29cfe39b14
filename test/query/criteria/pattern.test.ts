import { expect, test } from 'vitest';
import { compileCriteria } from '../../../src/query/criteria/compile-criteria.ts';
import { matchTable } from './match-table.ts';

matchTable('patterns', [
  {
    shows: 'a RegExp literal finds strings, in arrays too',
    criteria: { a: /^x/ },
    matches: [{ a: 'xy' }, { a: [1, 'x'] }],
    misses: [{ a: 'yx' }, { a: 1 }, {}, { a: null }, { a: [['x']] }],
  },
  {
    shows: 'a RegExp literal finds RegExps equal to it',
    criteria: { a: /x/i },
    matches: [{ a: /x/i }],
    misses: [{ a: /x/ }, { a: new Date() }],
  },
  {
    shows: '$regex takes a string',
    criteria: { a: { $regex: '^x' } },
    matches: [{ a: 'xy' }],
    misses: [{ a: 'Xy' }],
  },
  {
    shows: '$regex takes a RegExp',
    criteria: { a: { $regex: /^x/i } },
    matches: [{ a: 'Xy' }],
    misses: [{ a: 'y' }],
  },
  {
    shows: '$options stand before or after',
    criteria: { a: { $options: 'is', $regex: '^x.y' } },
    matches: [{ a: 'X\ny' }],
    misses: [{ a: 'xy' }],
  },
  {
    shows: '$options go with a RegExp without flags',
    criteria: { a: { $regex: /^x/, $options: 'im' } },
    matches: [{ a: 'y\nX' }],
    misses: [{ a: 'yx' }],
  },
  {
    shows: '$regex goes along with other operators',
    criteria: { a: { $regex: 'x', $ne: 'xx', $in: [/x/] } },
    matches: [{ a: 'x' }],
    misses: [{ a: 'xx' }],
  },
  {
    shows: '$not takes a pattern',
    criteria: { a: { $not: /x/ } },
    matches: [{ a: 'y' }, { a: 1 }, {}],
    misses: [{ a: 'x' }, { a: ['y', 'x'] }],
  },
  {
    shows: '$not takes $regex with $options',
    criteria: { a: { $not: { $regex: 'X', $options: 'i' } } },
    matches: [{ a: 'y' }],
    misses: [{ a: 'x' }],
  },
]);

test('a pattern with g or y starts at 0 for every document', () => {
  for (const criteria of [{ a: /x/g }, { a: /x/y }, { a: { $in: [/x/gy, 1] } }]) {
    const compiled = compileCriteria(criteria);
    expect([1, 2, 3].map(() => compiled.test({ a: 'x' }))).toEqual([true, true, true]);
  }
});

test('a RegExp of the caller keeps its lastIndex', () => {
  const pattern = /x/g;
  pattern.lastIndex = 5;
  compileCriteria({ a: pattern }).test({ a: 'x' });
  expect(pattern.lastIndex).toBe(5);
});
