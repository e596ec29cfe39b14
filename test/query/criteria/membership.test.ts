import { matchTable } from './match-table.ts';

matchTable('$in', [
  {
    shows: 'finds any of the values, in arrays too',
    criteria: { a: { $in: [1, 'x'] } },
    matches: [{ a: 1 }, { a: 'x' }, { a: [5, 1] }, { a: 1n }],
    misses: [{ a: '1' }, {}, { a: [[1]] }],
  },
  {
    shows: 'takes RegExps as patterns, and finds RegExps',
    criteria: { a: { $in: [/^x/, 5] } },
    matches: [{ a: 'xy' }, { a: 5 }, { a: /^x/ }],
    misses: [{ a: 'yx' }, { a: /^x/i }],
  },
  {
    shows: 'takes null for missing',
    criteria: { a: { $in: [null] } },
    matches: [{}, { a: null }, { a: undefined }],
    misses: [{ a: 0 }],
  },
  {
    shows: 'finds arrays, objects, dates and NaN',
    criteria: { a: { $in: [[1], { x: 1 }, new Date(1), Number.NaN] } },
    matches: [{ a: [1] }, { a: [[1]] }, { a: { x: 1 } }, { a: new Date(1) }, { a: Number.NaN }],
    misses: [{ a: 1 }, { a: { x: 2 } }],
  },
  {
    shows: 'compares bigint and number by amount',
    criteria: { a: { $in: [5n, 2 ** 53] } },
    matches: [{ a: 5 }, { a: 5n }, { a: 2n ** 53n }],
    misses: [{ a: 2n ** 53n + 1n }, { a: 6n }],
  },
  {
    shows: 'finds nothing in an empty list',
    criteria: { a: { $in: [] } },
    misses: [{}, { a: 1 }, { a: [] }],
  },
]);

matchTable('$nin', [
  {
    shows: 'is the opposite of $in, for missing and arrays too',
    criteria: { a: { $nin: [1, /x/] } },
    matches: [{ a: 2 }, {}, { a: [] }],
    misses: [{ a: 1 }, { a: 'xx' }, { a: [2, 1] }],
  },
  {
    shows: 'with null leaves out missing',
    criteria: { a: { $nin: [null] } },
    matches: [{ a: 1 }],
    misses: [{}, { a: null }],
  },
  {
    shows: 'finds everything with an empty list',
    criteria: { a: { $nin: [] } },
    matches: [{}, { a: 1 }],
  },
]);

matchTable('$all', [
  {
    shows: 'wants every value, in any order',
    criteria: { a: { $all: [1, 2] } },
    matches: [{ a: [2, 3, 1] }],
    misses: [{ a: [1] }, { a: 1 }, {}],
  },
  {
    shows: 'is content with a single value',
    criteria: { a: { $all: [1] } },
    matches: [{ a: 1 }, { a: [1] }],
    misses: [{ a: [[1]] }],
  },
  {
    shows: 'takes an array as a whole or as an item',
    criteria: { a: { $all: [[1, 2]] } },
    matches: [{ a: [1, 2] }, { a: [[1, 2]] }],
    misses: [{ a: [2, 1] }],
  },
  {
    shows: 'finds nothing when empty',
    criteria: { a: { $all: [] } },
    misses: [{ a: [] }, { a: [1] }, {}],
  },
  {
    shows: 'takes null for missing',
    criteria: { a: { $all: [null] } },
    matches: [{}, { a: null }],
    misses: [{ a: [] }],
  },
  {
    shows: 'takes RegExps as patterns',
    criteria: { a: { $all: [/^x/, /y$/] } },
    matches: [{ a: ['x', 'y'] }, { a: 'xy' }],
    misses: [{ a: ['x'] }],
  },
  {
    shows: 'wants an item for every $elemMatch',
    criteria: { a: { $all: [{ $elemMatch: { x: 1 } }, { $elemMatch: { y: 2 } }] } },
    matches: [{ a: [{ x: 1 }, { y: 2 }] }, { a: [{ x: 1, y: 2 }] }],
    misses: [{ a: [{ x: 1 }] }, { a: { x: 1, y: 2 } }],
  },
]);
