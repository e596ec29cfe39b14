import { matchTable } from './match-table.ts';

matchTable('$size', [
  {
    shows: 'is the length of the array itself',
    criteria: { a: { $size: 2 } },
    matches: [{ a: [1, 2] }],
    misses: [{ a: [1] }, { a: [[1, 2]] }, { a: 'ab' }, { a: { length: 2 } }, {}],
  },
  {
    shows: 'of 0 wants an array',
    criteria: { a: { $size: 0 } },
    matches: [{ a: [] }],
    misses: [{}, { a: null }],
  },
  {
    shows: 'looks at the arrays inside objects of an array',
    criteria: { 'a.b': { $size: 1 } },
    matches: [{ a: [{ b: 1 }, { b: [1] }] }],
    misses: [{ a: [{ b: 1 }] }],
  },
]);

matchTable('$elemMatch', [
  {
    shows: 'wants one item that fulfils all operators',
    criteria: { a: { $elemMatch: { $gt: 1, $lt: 5 } } },
    matches: [{ a: [9, 3] }],
    misses: [{ a: [0, 9] }, { a: 3 }, { a: [[3]] }, {}],
  },
  {
    shows: 'wants one object that fulfils all fields',
    criteria: { a: { $elemMatch: { x: 1, y: { $gt: 1 } } } },
    matches: [{ a: [{ x: 1, y: 2 }] }],
    misses: [{ a: [{ x: 1 }, { y: 2 }] }, { a: { x: 1, y: 2 } }, { a: [] }],
  },
  {
    shows: 'takes logic over fields',
    criteria: { a: { $elemMatch: { $or: [{ x: 1 }, { y: 1 }] } } },
    matches: [{ a: [{ y: 1 }] }],
    misses: [{ a: [{ z: 1 }] }, { a: [1] }],
  },
  {
    shows: 'takes $not over the item',
    criteria: { a: { $elemMatch: { $not: { $gt: 1 } } } },
    matches: [{ a: [5, 0] }],
    misses: [{ a: [5] }, { a: [] }],
  },
  {
    shows: 'goes into arrays of arrays',
    criteria: { a: { $elemMatch: { $elemMatch: { $eq: 1 } } } },
    matches: [{ a: [[1]] }],
    misses: [{ a: [1] }],
  },
  {
    shows: 'takes the positions of an inner array for fields',
    criteria: { a: { $elemMatch: { 0: 1 } } },
    matches: [{ a: [[1, 2]] }, { a: [{ 0: 1 }] }],
    misses: [{ a: [1] }, { a: [[2, 1]] }],
  },
  {
    shows: 'with nothing asked finds any object or array',
    criteria: { a: { $elemMatch: {} } },
    matches: [{ a: [{}] }, { a: [[]] }],
    misses: [{ a: [1] }, { a: [] }, { a: [new Date()] }],
  },
  {
    shows: 'finds missing fields of items',
    criteria: { a: { $elemMatch: { x: null } } },
    matches: [{ a: [{ y: 1 }] }],
    misses: [{ a: [{ x: 1 }] }, { a: [null] }],
  },
  {
    shows: 'of $ne wants one item that differs',
    criteria: { a: { $elemMatch: { $ne: 1 } } },
    matches: [{ a: [1, 2] }],
    misses: [{ a: [1] }, { a: [] }, {}],
  },
]);
