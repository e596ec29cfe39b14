import { type Row, refused, updateTable } from './cases.ts';

const { NaN: nan, POSITIVE_INFINITY: infinity, NEGATIVE_INFINITY: negative } = Number;

updateTable('$inc', [
  ['adds', { a: 1, b: 2 }, { $inc: { a: 4 } }, { a: 5, b: 2 }],
  ['subtracts a negative', { a: 1 }, { $inc: { a: -4 } }, { a: -3 }],
  [
    'adds fractions as JavaScript does',
    { a: 0.1 },
    { $inc: { a: 0.2 } },
    { a: 0.30000000000000004 },
  ],
  ['adds 0', { a: 1 }, { $inc: { a: 0 } }, { a: 1 }],
  ['keeps -0 with -0', { a: -0 }, { $inc: { a: -0 } }, { a: -0 }],
  ['makes 0 of -0 and 0', { a: -0 }, { $inc: { a: 0 } }, { a: 0 }],
  ['sets a missing field', {}, { $inc: { a: 4 } }, { a: 4 }],
  ['sets a missing field to -0', {}, { $inc: { a: -0 } }, { a: -0 }],
  [
    'creates missing parents',
    { a: {} },
    { $inc: { 'a.b.c': 1, 'x.0': 2 } },
    { a: { b: { c: 1 } }, x: { 0: 2 } },
  ],
  ['adds to an item', { a: [1, 2] }, { $inc: { 'a.1': 3 } }, { a: [1, 5] }],
  ['sets an item past the end', { a: [1] }, { $inc: { 'a.2': 3 } }, { a: [1, null, 3] }],
  [
    'adds inside of an item',
    { a: [{ n: 1 }] },
    { $inc: { 'a.0.n': 1, 'a.1.n': 2 } },
    { a: [{ n: 2 }, { n: 2 }] },
  ],
  ['keeps NaN', { a: nan }, { $inc: { a: 1 } }, { a: nan }],
  ['takes NaN', { a: 1 }, { $inc: { a: nan } }, { a: nan }],
  ['adds Infinity', { a: 1 }, { $inc: { a: infinity } }, { a: infinity }],
  ['makes NaN of opposite infinities', { a: infinity }, { $inc: { a: negative } }, { a: nan }],
  ['loses the last digit above 2 ** 53', { a: 2 ** 53 }, { $inc: { a: 1 } }, { a: 2 ** 53 }],
  ['adds bigints', { a: 2n ** 64n }, { $inc: { a: -1n } }, { a: 2n ** 64n - 1n }],
  ['sets a missing field to a bigint', {}, { $inc: { a: 5n } }, { a: 5n }],
  ['adds to several fields', { a: 1, b: 1n }, { $inc: { a: 1, b: 1n } }, { a: 2, b: 2n }],
]);

updateTable('$mul', [
  ['multiplies', { a: 3, b: 2 }, { $mul: { a: 4 } }, { a: 12, b: 2 }],
  ['multiplies fractions', { a: 3 }, { $mul: { a: 0.5 } }, { a: 1.5 }],
  ['multiplies by 0', { a: 3 }, { $mul: { a: 0 } }, { a: 0 }],
  ['keeps the sign of 0', { a: 0 }, { $mul: { a: -1 } }, { a: -0 }],
  ['sets a missing field to 0', {}, { $mul: { a: 4 } }, { a: 0 }],
  ['sets a missing field to 0 for a negative', {}, { $mul: { a: -4 } }, { a: 0 }],
  ['sets a missing field to 0 for Infinity', {}, { $mul: { a: infinity } }, { a: 0 }],
  ['sets a missing field to 0 for NaN', {}, { $mul: { a: nan } }, { a: 0 }],
  ['sets a missing field to 0n for a bigint', {}, { $mul: { a: 4n } }, { a: 0n }],
  ['creates missing parents', {}, { $mul: { 'a.b': 2 } }, { a: { b: 0 } }],
  ['multiplies an item', { a: [2, 3] }, { $mul: { 'a.0': 3 } }, { a: [6, 3] }],
  ['sets an item past the end to 0', { a: [] }, { $mul: { 'a.1': 3 } }, { a: [null, 0] }],
  ['makes NaN of 0 and Infinity', { a: 0 }, { $mul: { a: infinity } }, { a: nan }],
  ['keeps NaN', { a: nan }, { $mul: { a: 2 } }, { a: nan }],
  ['multiplies bigints', { a: 3n }, { $mul: { a: -(2n ** 64n) } }, { a: -3n * 2n ** 64n }],
]);

const kinds: readonly (readonly [name: string, value: unknown, operand: unknown])[] = [
  ['null', null, 1],
  ['a string of digits', '1', 1],
  ['a boolean', true, 1],
  ['a Date', new Date(1), 1],
  ['an array', [1], 1],
  ['an empty array', [], 1],
  ['an object', { x: 1 }, 1],
  ['a pattern', /1/, 1],
  ['a bigint, with a number', 1n, 1],
  ['a number, with a bigint', 1, 1n],
  ['NaN, with a bigint', nan, 1n],
  ['null, with a bigint', null, 1n],
];

for (const name of ['$inc', '$mul']) {
  updateTable(`${name} refuses`, [
    ...kinds.map(
      ([title, value, operand]): Row => [
        title,
        { x: { a: value } },
        { [name]: { 'x.a': operand } },
        refused('kind_mismatch', 'x.a'),
      ],
    ),
    ['an item of null', { a: [null] }, { [name]: { 'a.0': 1 } }, refused('kind_mismatch', 'a.0')],
    [
      'a path through a string',
      { a: 'x' },
      { [name]: { 'a.b': 1 } },
      refused('kind_mismatch', 'a.b'),
    ],
    ['a path through null', { a: null }, { [name]: { 'a.b': 1 } }, refused('kind_mismatch', 'a.b')],
    ['a name in an array', { a: [1] }, { [name]: { 'a.b': 1 } }, refused('key_invalid', 'a.b')],
  ]);
}
