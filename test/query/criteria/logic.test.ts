import { expect, test } from 'vitest';
import { compileCriteria } from '../../../src/query/criteria/compile-criteria.ts';
import { matchTable } from './match-table.ts';

matchTable('$and, $or, $nor, $not', [
  {
    shows: 'fields side by side must all match',
    criteria: { a: 1, b: 2, c: 3 },
    matches: [{ a: 1, b: 2, c: 3 }],
    misses: [
      { a: 1, b: 2 },
      { a: 1, b: 2, c: 4 },
    ],
  },
  {
    shows: '$and wants all',
    criteria: { $and: [{ a: { $gt: 1 } }, { a: { $lt: 5 } }] },
    matches: [{ a: 3 }],
    misses: [{ a: 9 }],
  },
  {
    shows: '$or wants one',
    criteria: { $or: [{ a: 1 }, { b: 1 }, { c: 1 }] },
    matches: [{ b: 1 }, { a: 1 }, { c: 1 }],
    misses: [{ a: 2, b: 2 }],
  },
  {
    shows: '$nor wants none',
    criteria: { $nor: [{ a: 1 }, { b: 1 }] },
    matches: [{}, { a: 2 }],
    misses: [{ a: 1 }, { b: 1 }],
  },
  {
    shows: 'logic stands beside fields and in itself',
    criteria: { a: 1, $or: [{ $and: [{ b: 1 }, { c: 1 }] }, { $nor: [{ d: 1 }] }] },
    matches: [{ a: 1 }, { a: 1, b: 1, c: 1, d: 1 }],
    misses: [
      { a: 1, d: 1 },
      { b: 1, c: 1 },
    ],
  },
  {
    shows: 'empty criteria in a list match everything',
    criteria: { $or: [{ a: 1 }, {}] },
    matches: [{}],
  },
  {
    shows: '$not turns all operators round at once',
    criteria: { a: { $not: { $gt: 1, $lt: 5 } } },
    matches: [{ a: 1 }, { a: 9 }, {}, { a: 'x' }],
    misses: [{ a: 3 }, { a: [0, 9] }],
  },
  {
    shows: '$not of $not',
    criteria: { a: { $not: { $not: { $eq: 1 } } } },
    matches: [{ a: 1 }],
    misses: [{}],
  },
  {
    shows: '$not of $exists',
    criteria: { a: { $not: { $exists: true } } },
    matches: [{}],
    misses: [{ a: undefined }],
  },
]);

test('the roots are the first segments of all paths', () => {
  const { roots } = compileCriteria({
    'address.city': 1,
    $or: [{ _archived: true }, { $nor: [{ 'tags.0.name': 1 }] }],
    list: { $elemMatch: { inner: 1 } },
  });
  expect([...roots].sort()).toEqual(['_archived', 'address', 'list', 'tags']);
});
