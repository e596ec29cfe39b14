import { matchTable } from './match-table.ts';

matchTable('dotted paths', [
  {
    shows: 'reach below fields, however many',
    criteria: { 'a.b.c.d': 1 },
    matches: [{ a: { b: { c: { d: 1 } } } }],
    misses: [{ a: { b: { c: 1 } } }, { a: { b: null } }, {}, { 'a.b.c.d': 1 }],
  },
  {
    shows: 'reach the objects of an array',
    criteria: { 'a.b': 1 },
    matches: [{ a: [{ b: 2 }, { b: 1 }] }, { a: [{ b: [3, 1] }] }],
    misses: [{ a: [1] }, { a: [[{ b: 1 }]] }],
  },
  {
    shows: 'reach through arrays at every level',
    criteria: { 'a.b.c': 1 },
    matches: [{ a: [{ b: [{ c: 1 }] }] }, { a: { b: [{ c: [1] }] } }],
    misses: [{ a: [{ b: [1] }] }],
  },
  {
    shows: 'find missing where a scalar stands in the way',
    criteria: { 'a.b': null },
    matches: [{ a: 1 }, { a: null }, {}, { a: { b: undefined } }, { a: 'text' }],
    misses: [{ a: { b: 0 } }],
  },
  {
    shows: 'find missing in the objects of an array, nowhere else in it',
    criteria: { 'a.b': null },
    matches: [{ a: [{ c: 1 }] }, { a: [1, { b: null }] }],
    misses: [{ a: [] }, { a: [1, null] }, { a: [{ b: 1 }] }, { a: [[{}]] }],
  },
  {
    shows: 'take a numeric segment for a position',
    criteria: { 'a.1': 5 },
    matches: [{ a: [0, 5] }],
    misses: [{ a: [5, 0] }, { a: [5] }],
  },
  {
    shows: 'take a numeric segment for a field name',
    criteria: { 'a.1': 5 },
    matches: [{ a: { 1: 5 } }, { a: [{ 1: 5 }] }, { a: [{}, { 1: 5 }] }],
  },
  {
    shows: 'take the item at a position as it is',
    criteria: { 'a.0': 5 },
    matches: [{ a: [5] }],
    misses: [{ a: [[5]] }],
  },
  {
    shows: 'compare the item at a position as a whole',
    criteria: { 'a.0': [5] },
    matches: [{ a: [[5]] }],
    misses: [{ a: [5] }],
  },
  {
    shows: 'go on below a position',
    criteria: { 'a.0.b': 5 },
    matches: [{ a: [{ b: 5 }] }, { a: [[{ b: 5 }]] }, { a: [{ b: [5] }] }],
    misses: [{ a: [{}, { b: 5 }] }],
  },
  {
    shows: 'take position after position',
    criteria: { 'a.0.1': 5 },
    matches: [{ a: [[4, 5]] }],
    misses: [{ a: [[5, 4]] }, { a: [5, 5] }],
  },
  {
    shows: 'know no position with leading zeros',
    criteria: { 'a.00': 5 },
    matches: [{ a: { '00': 5 } }],
    misses: [{ a: [5] }],
  },
  {
    shows: 'find missing fields of an object at a position',
    criteria: { 'a.0': null },
    matches: [{ a: [{ b: 1 }] }, { a: [null] }],
    misses: [{ a: [] }, { a: [1] }],
  },
  {
    shows: 'may have empty segments',
    criteria: { 'a.': 1 },
    matches: [{ a: { '': 1 } }],
    misses: [{ a: 1 }],
  },
  { shows: 'may be empty', criteria: { '': 1 }, matches: [{ '': 1 }], misses: [{}] },
  {
    shows: 'work for top-level numeric fields',
    criteria: { 0: 1 },
    matches: [{ 0: 1 }],
    misses: [{}],
  },
]);
