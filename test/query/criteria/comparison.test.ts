import { matchTable } from './match-table.ts';

const never = new Date(Number.NaN);

matchTable('equality', [
  {
    shows: 'is exact for scalars',
    criteria: { a: 1 },
    matches: [{ a: 1 }],
    misses: [{ a: '1' }, { a: true }, {}],
  },
  {
    shows: 'takes null for undefined and missing as well',
    criteria: { a: null },
    matches: [{ a: null }, { a: undefined }, {}, { a: [1, null] }],
    misses: [{ a: 0 }, { a: '' }, { a: [] }],
  },
  {
    shows: 'takes undefined as null',
    criteria: { a: undefined },
    matches: [{ a: null }, {}],
    misses: [{ a: 1 }],
  },
  {
    shows: 'finds NaN with NaN',
    criteria: { a: Number.NaN },
    matches: [{ a: Number.NaN }],
    misses: [{ a: 0 }, {}],
  },
  {
    shows: 'takes -0 and 0 as one',
    criteria: { a: -0 },
    matches: [{ a: 0 }, { a: -0 }, { a: 0n }],
  },
  {
    shows: 'compares bigint and number by amount',
    criteria: { a: 2n ** 53n },
    matches: [{ a: 2 ** 53 }, { a: 2n ** 53n }],
    misses: [{ a: 2n ** 53n + 1n }],
  },
  {
    shows: 'compares number and bigint by amount',
    criteria: { a: 2 ** 53 },
    matches: [{ a: 2n ** 53n }],
    misses: [{ a: 2n ** 53n + 1n }],
  },
  {
    shows: 'compares dates by time',
    criteria: { a: new Date(5) },
    matches: [{ a: new Date(5) }],
    misses: [{ a: new Date(6) }, { a: 5 }, { a: never }],
  },
  {
    shows: 'finds a date without a time',
    criteria: { a: never },
    matches: [{ a: new Date('x') }],
    misses: [{ a: new Date(0) }],
  },
  {
    shows: 'finds an array as a whole or as an item',
    criteria: { a: [1, 2] },
    matches: [{ a: [1, 2] }, { a: [0, [1, 2]] }],
    misses: [{ a: [2, 1] }, { a: [1, 2, 3] }, { a: [[[1, 2]]] }, { a: 1 }],
  },
  {
    shows: 'finds an item of an array, one level deep',
    criteria: { a: 1 },
    matches: [{ a: [0, 1] }],
    misses: [{ a: [[1]] }, { a: [] }],
  },
  {
    shows: 'finds an empty array as a whole or as an item',
    criteria: { a: [] },
    matches: [{ a: [] }, { a: [[]] }],
    misses: [{ a: [1] }, {}],
  },
  {
    shows: 'is exact for objects, the order of fields included',
    criteria: { a: { x: 1, y: 2 } },
    matches: [{ a: { x: 1, y: 2 } }, { a: [{ x: 1, y: 2 }] }],
    misses: [
      { a: { y: 2, x: 1 } },
      { a: { x: 1, y: 2, z: 3 } },
      { a: { x: 1 } },
      { a: { x: 1, y: [2] } },
    ],
  },
  {
    shows: 'tells null from undefined and missing inside objects',
    criteria: { a: { x: null } },
    matches: [{ a: { x: null } }],
    misses: [{ a: {} }, { a: { x: undefined } }],
  },
  {
    shows: 'finds the empty object',
    criteria: { a: {} },
    matches: [{ a: {} }],
    misses: [{ a: { x: 1 } }, { a: new Map() }, { a: [] }, {}],
  },
  {
    shows: 'compares Maps by content, in order',
    criteria: { a: new Map([['x', { y: 1 }]]) },
    matches: [{ a: new Map([['x', { y: 1 }]]) }],
    misses: [{ a: new Map([['x', { y: 2 }]]) }, { a: { x: { y: 1 } } }],
  },
  {
    shows: 'compares Sets by content, in order',
    criteria: { a: new Set([1, 2]) },
    matches: [{ a: new Set([1, 2]) }],
    misses: [{ a: new Set([2, 1]) }, { a: [1, 2] }],
  },
  {
    shows: 'compares binary values by kind and bytes',
    criteria: { a: new Uint8Array([1, 2]) },
    matches: [{ a: new Uint8Array([0, 1, 2]).subarray(1) }],
    misses: [{ a: new Uint8Array([1, 3]) }, { a: new Int8Array([1, 2]) }, { a: [1, 2] }],
  },
  {
    shows: 'compares buffers by bytes',
    criteria: { a: new Uint8Array([7]).buffer },
    matches: [{ a: new Uint8Array([7]).buffer }],
    misses: [{ a: new Uint8Array([8]).buffer }, { a: new Uint8Array([7]) }],
  },
  {
    shows: 'takes $eq with a RegExp as a value, not a pattern',
    criteria: { a: { $eq: /x/i } },
    matches: [{ a: /x/i }],
    misses: [{ a: 'x' }, { a: /x/ }],
  },
  {
    shows: 'takes $eq with an object literally, operators and all',
    criteria: { a: { $eq: { $gt: 1 } } },
    matches: [{ a: { $gt: 1 } }],
    misses: [{ a: 2 }],
  },
  { shows: 'matches every document when empty', criteria: {}, matches: [{}, { a: 1 }] },
]);

matchTable('$ne', [
  {
    shows: 'is the opposite of equality, for missing too',
    criteria: { a: { $ne: 1 } },
    matches: [{ a: 2 }, {}, { a: '1' }, { a: [[1]] }],
    misses: [{ a: 1 }, { a: [2, 1] }],
  },
  {
    shows: 'with null leaves out missing',
    criteria: { a: { $ne: null } },
    matches: [{ a: 0 }, { a: [] }],
    misses: [{}, { a: null }, { a: undefined }, { a: [1, null] }],
  },
  {
    shows: 'with NaN leaves out NaN',
    criteria: { a: { $ne: Number.NaN } },
    matches: [{ a: 1 }, {}],
    misses: [{ a: Number.NaN }],
  },
]);

matchTable('$gt, $gte, $lt, $lte', [
  {
    shows: 'never leave the bracket of a number',
    criteria: { a: { $gt: 1 } },
    matches: [{ a: 2 }, { a: 2n }, { a: [0, 2] }, { a: Number.POSITIVE_INFINITY }],
    misses: [{ a: 1 }, { a: '2' }, { a: true }, { a: new Date(5) }, { a: null }, {}, { a: [[2]] }],
  },
  {
    shows: 'compare bigints exactly',
    criteria: { a: { $gt: 2n ** 53n } },
    matches: [{ a: 2n ** 53n + 1n }, { a: 2 ** 54 }],
    misses: [{ a: 2 ** 53 }, { a: Number.NaN }],
  },
  {
    shows: 'order strings by code unit',
    criteria: { a: { $gte: 'b' } },
    matches: [{ a: 'b' }, { a: 'ba' }, { a: 'ä' }],
    misses: [{ a: 'a' }, { a: 'B' }, { a: 5 }],
  },
  {
    shows: 'order dates',
    criteria: { a: { $lt: new Date(5) } },
    matches: [{ a: new Date(4) }],
    misses: [{ a: new Date(5) }, { a: 4 }, { a: never }],
  },
  {
    shows: 'order false before true',
    criteria: { a: { $gt: false } },
    matches: [{ a: true }],
    misses: [{ a: false }, { a: 1 }],
  },
  {
    shows: 'take null for itself and for missing',
    criteria: { a: { $gte: null } },
    matches: [{ a: null }, {}, { a: undefined }],
    misses: [{ a: 0 }],
  },
  {
    shows: 'know nothing beyond null',
    criteria: { a: { $lt: null } },
    misses: [{ a: null }, {}, { a: 0 }],
  },
  {
    shows: 'take NaN as at most NaN and nothing else',
    criteria: { a: { $lte: Number.NaN } },
    matches: [{ a: Number.NaN }],
    misses: [{ a: 0 }, { a: Number.NEGATIVE_INFINITY }],
  },
  {
    shows: 'take NaN as less than no number',
    criteria: { a: { $lt: 5 } },
    matches: [{ a: 4 }],
    misses: [{ a: Number.NaN }],
  },
  {
    shows: 'compare arrays as a whole and items that are arrays',
    criteria: { a: { $gt: [1, 2] } },
    matches: [{ a: [1, 3] }, { a: [1, 2, 0] }, { a: [0, [2]] }],
    misses: [{ a: [1, 2] }, { a: 5 }, { a: [1] }],
  },
  {
    shows: 'compare objects by type, name and value of each field',
    criteria: { a: { $gt: { x: 1 } } },
    matches: [{ a: { x: 2 } }, { a: { y: 0 } }, { a: { x: 'a' } }, { a: { x: 1, y: 0 } }],
    misses: [{ a: { x: 1 } }, { a: {} }, { a: { x: null } }],
  },
  {
    shows: 'each find an item of their own',
    criteria: { a: { $gt: 1, $lt: 5 } },
    matches: [{ a: 3 }, { a: [0, 9] }],
    misses: [{ a: 9 }, { a: [9] }, { a: [] }],
  },
]);
