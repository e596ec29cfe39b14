import { describe, expect, test } from 'vitest';
import { MANAGED_FIELDS } from '../../../src/storage/segments/stored-record.ts';
import { expectSame, NOW, type Row, refused, updated, updateTable } from './cases.ts';

const day = new Date(5);

const existing: Row[] = [
  ['sets a field where it stands', { a: 1, b: 2 }, { a: 3 }, { a: 3, b: 2 }],
  ['adds a new field behind the others', { b: 1 }, { a: 2 }, { b: 1, a: 2 }],
  [
    'sets a field of any kind to any other',
    { a: [1], b: null },
    { a: 'x', b: [] },
    { a: 'x', b: [] },
  ],
  ['replaces an object whole', { a: { b: 1, c: 2 } }, { a: { b: 3 } }, { a: { b: 3 } }],
  [
    'reaches into objects',
    { a: { b: { c: 1, d: 2 } } },
    { 'a.b.c': 9 },
    { a: { b: { c: 9, d: 2 } } },
  ],
  [
    'changes only the order of keys',
    { a: { x: 1, y: 2 } },
    { a: { y: 2, x: 1 } },
    { a: { y: 2, x: 1 } },
  ],
  ['sets -0 over 0', { a: 0 }, { a: -0 }, { a: -0 }],
  ['sets undefined', { a: 1 }, { a: undefined }, { a: undefined }],
  [
    'keeps the kinds of values',
    {},
    { b: 2n, d: day, n: Number.NaN, r: /x/i, s: new Set([1]) },
    { b: 2n, d: day, n: Number.NaN, r: /x/i, s: new Set([1]) },
  ],
  ['stores operators inside of a value', {}, { a: { b: { $inc: 1 } } }, { a: { b: { $inc: 1 } } }],
  ['does nothing without paths', { a: 1 }, {}, { a: 1 }],
];

const missing: Row[] = [
  ['creates missing parents', {}, { 'a.b.c': 1 }, { a: { b: { c: 1 } } }],
  ['adds to an empty object', { a: {} }, { 'a.b': 1 }, { a: { b: 1 } }],
  [
    'creates objects for digits where no array is',
    {},
    { 'a.0': 1, 'b.0.c': 2 },
    { a: { 0: 1 }, b: { 0: { c: 2 } } },
  ],
  [
    'takes digits for a name in an object',
    { a: { 0: 'x' } },
    { 'a.0': 'y', 'a.01': 'z' },
    { a: { 0: 'y', '01': 'z' } },
  ],
  [
    'creates a parent in place of a stored undefined',
    { a: undefined },
    { 'a.b': 1 },
    { a: { b: 1 } },
  ],
  [
    'creates own fields with the names of inherited ones',
    {},
    { 'constructor.name': 1, toString: 2 },
    {
      constructor: { name: 1 },
      toString: 2,
    },
  ],
  [
    'creates own fields below inherited names',
    { a: {} },
    { 'a.hasOwnProperty.x': 1 },
    { a: { hasOwnProperty: { x: 1 } } },
  ],
];

const arrays: Row[] = [
  ['sets an item', { a: [1, 2, 3] }, { 'a.1': 9 }, { a: [1, 9, 3] }],
  ['appends at the length', { a: [1] }, { 'a.1': 2 }, { a: [1, 2] }],
  ['fills the gap with null', { a: [1] }, { 'a.3': 4 }, { a: [1, null, null, 4] }],
  ['sets the first item of an empty array', { a: [] }, { 'a.0': 1 }, { a: [1] }],
  ['creates an object as an item', { a: [] }, { 'a.1.b': 1 }, { a: [null, { b: 1 }] }],
  ['creates objects for digits inside of a new item', { a: [] }, { 'a.0.0': 1 }, { a: [{ 0: 1 }] }],
  [
    'sets a field of an item',
    { a: [{ b: 1, c: 2 }, { b: 3 }] },
    { 'a.0.b': 9 },
    { a: [{ b: 9, c: 2 }, { b: 3 }] },
  ],
  ['reaches into arrays of arrays', { a: [[1], [2, 3]] }, { 'a.1.0': 9 }, { a: [[1], [9, 3]] }],
  ['extends an inner array', { a: [[1]] }, { 'a.0.2': 3 }, { a: [[1, null, 3]] }],
  ['replaces an array whole', { a: [1, 2] }, { a: [[]] }, { a: [[]] }],
  ['sets two items of a new gap', { a: [] }, { 'a.2': 'c', 'a.0': 'a' }, { a: ['a', null, 'c'] }],
  ['refuses a name', { a: [{ b: 1 }] }, { 'a.b': 2 }, refused('key_invalid', 'a.b')],
  ['refuses the length', { a: [1] }, { 'a.length': 0 }, refused('key_invalid', 'a.length')],
  ['refuses leading zeros', { a: [1] }, { 'a.00': 2 }, refused('key_invalid', 'a.00')],
  ['refuses a negative index', { a: [1] }, { 'a.-1': 2 }, refused('key_invalid', 'a.-1')],
  [
    'refuses a gap of over 100,000',
    { a: [] },
    { 'a.100001': 1 },
    refused('key_invalid', 'a.100001'),
  ],
  [
    'refuses an item of null as a parent',
    { a: [null] },
    { 'a.0.b': 1 },
    refused('kind_mismatch', 'a.0.b'),
  ],
];

const blocked: Row[] = [
  'text',
  5,
  5n,
  true,
  null,
  day,
  /x/,
  new Map([['b', 1]]),
  new Set(),
  new Uint8Array(2),
].map((value) => [
  `refuses ${Object.prototype.toString.call(value)} as a parent`,
  { a: value },
  { 'a.b': 1 },
  refused('kind_mismatch', 'a.b'),
]);

const deeper: Row[] = [
  ['names the whole path', { a: { b: 1 } }, { 'a.b.c.d': 1 }, refused('kind_mismatch', 'a.b.c.d')],
  ['takes no index of a string', { a: 'text' }, { 'a.0': 'x' }, refused('kind_mismatch', 'a.0')],
];

const order: Row[] = [
  ['adds by name, not as given', {}, { $set: { c: 1, a: 2, b: 3 } }, { a: 2, b: 3, c: 1 }],
  [
    'compares names by code unit',
    {},
    { $set: { b: 1, B: 2, é: 3, z: 4 } },
    { B: 2, b: 1, z: 4, é: 3 },
  ],
  ['compares digits inside of names as text', {}, { $set: { a9: 1, a10: 2 } }, { a10: 2, a9: 1 }],
  ['compares segment by segment', {}, { $set: { 'a-b': 1, 'a.b': 2 } }, { a: { b: 2 }, 'a-b': 1 }],
  [
    'adds nested names so too',
    {},
    { $set: { 'a.z': 1, 'a.y.b': 2, 'a.y.a': 3 } },
    { a: { y: { a: 3, b: 2 }, z: 1 } },
  ],
  ['keeps the order inside of a value', {}, { $set: { a: { z: 1, y: 2 } } }, { a: { z: 1, y: 2 } }],
  [
    'adds behind the fields that are there',
    { m: 0 },
    { $set: { z: 1, a: 2, m: 3 } },
    { m: 3, a: 2, z: 1 },
  ],
];

const managed: Row[] = [...MANAGED_FIELDS].map((name) => [
  `ignores ${name}`,
  { a: 1 },
  { [name]: 'x', [`${name}.x`]: 1, a: 2 },
  { a: 2 },
]);

const families = { existing, missing, arrays, blocked, deeper, managed };

for (const [name, rows] of Object.entries(families)) {
  updateTable(`plain fields: ${name}`, rows);
  updateTable(
    `$set: ${name}`,
    rows.map(([title, before, $set, after]): Row => [title, before, { $set }, after]),
  );
}

updateTable('$set: order', order);

updateTable('plain fields: order', [
  [
    'adds as given',
    { m: 0 },
    { c: 1, 'a.z': 2, 'a.b': 3, m: 4 },
    { m: 4, c: 1, a: { z: 2, b: 3 } },
  ],
]);

updateTable('names that only look managed', [
  [
    'sets _ids and id',
    {},
    { $set: { _ids: 1, id: 2, 'a._id': 3 } },
    { _ids: 1, a: { _id: 3 }, id: 2 },
  ],
]);

updateTable('several operators', [
  [
    'add by name across the operators',
    { m: [1] },
    { $set: { d: 1 }, $push: { c: 2, m: 2 }, $inc: { b: 3 }, $max: { 'a.x': 4 } },
    { m: [1, 2], a: { x: 4 }, b: 3, c: [2], d: 1 },
  ],
  [
    'change different fields of one object',
    { a: { n: 1, list: [1], gone: 1 } },
    { $inc: { 'a.n': 1 }, $pull: { 'a.list': 1 }, $unset: { 'a.gone': 1 }, $set: { 'a.new': NOW } },
    { a: { n: 2, list: [], new: NOW } },
  ],
  [
    'change different items of one array',
    { a: [1, [2], 3] },
    { $inc: { 'a.0': 10 }, $push: { 'a.1': 20 }, $unset: { 'a.2': '' }, $set: { 'a.3': 'new' } },
    { a: [11, [2, 20], null, 'new'] },
  ],
  [
    'do nothing with empty operands',
    { a: 1 },
    { $set: {}, $inc: {}, $rename: {}, $pull: {} },
    { a: 1 },
  ],
]);

describe('a long array', () => {
  test('extends by a gap of exactly 100,000', () => {
    const { a } = updated({ a: [1] }, { $set: { 'a.100001': 2 } }) as { a: unknown[] };
    expect(a.length).toBe(100_002);
    expectSame([a[0], a[1], a[100_000], a[100_001]], [1, null, null, 2]);
  });

  test('takes numeric segments by number: the nearer one halves the gap', () => {
    const { a } = updated({ a: [] }, { $set: { 'a.100005': 2, 'a.90000': 1 } }) as { a: unknown[] };
    expect(a.length).toBe(100_006);
  });
});
