import { NOW, type Row, refused, updateTable } from './cases.ts';

updateTable('$min', [
  ['sets a lower number', { a: 5 }, { $min: { a: 3 } }, { a: 3 }],
  ['keeps a lower number', { a: 1 }, { $min: { a: 3 } }, { a: 1 }],
  ['sets a missing field', {}, { $min: { a: 3 } }, { a: 3 }],
  ['sets a missing field, nested', { a: {} }, { $min: { 'a.b.c': 3 } }, { a: { b: { c: 3 } } }],
  ['sets an item past the end', { a: [] }, { $min: { 'a.1': 3 } }, { a: [null, 3] }],
  ['sets a missing field to null', {}, { $min: { a: null } }, { a: null }],
  ['keeps null, which is below numbers', { a: null }, { $min: { a: 3 } }, { a: null }],
  ['sets null over a number', { a: 3 }, { $min: { a: null } }, { a: null }],
  [
    'sets NaN, the least number',
    { a: Number.NEGATIVE_INFINITY },
    { $min: { a: Number.NaN } },
    { a: Number.NaN },
  ],
  ['sets a number over a string', { a: '1' }, { $min: { a: 2 } }, { a: 2 }],
  ['sets a string over an object', { a: {} }, { $min: { a: 'x' } }, { a: 'x' }],
  ['sets an object over an array', { a: [] }, { $min: { a: { x: 1 } } }, { a: { x: 1 } }],
  ['keeps an array below a boolean', { a: [] }, { $min: { a: false } }, { a: [] }],
  ['sets false over true', { a: true }, { $min: { a: false } }, { a: false }],
  ['sets a boolean over a Date', { a: new Date(0) }, { $min: { a: true } }, { a: true }],
  ['sets an earlier Date', { a: new Date(5) }, { $min: { a: new Date(1) } }, { a: new Date(1) }],
  ['sets a lower string by code unit', { a: 'a' }, { $min: { a: 'B' } }, { a: 'B' }],
  [
    'compares arrays whole, item by item',
    { a: [1, 9] },
    { $min: { a: [1, 2, 3] } },
    { a: [1, 2, 3] },
  ],
  ['takes no item of an array', { a: [5, 1] }, { $min: { a: 3 } }, { a: 3 }],
  [
    'compares objects field by field',
    { a: { x: 2 } },
    { $min: { a: { x: 1, y: 9 } } },
    { a: { x: 1, y: 9 } },
  ],
]);

updateTable('$max', [
  ['sets a higher number', { a: 5 }, { $max: { a: 7 } }, { a: 7 }],
  ['keeps a higher number', { a: 9 }, { $max: { a: 7 } }, { a: 9 }],
  ['sets a missing field', {}, { $max: { a: 3 } }, { a: 3 }],
  ['sets a missing field to null', {}, { $max: { 'a.b': null } }, { a: { b: null } }],
  ['sets a number over null', { a: null }, { $max: { a: -3 } }, { a: -3 }],
  ['sets a number over NaN', { a: Number.NaN }, { $max: { a: -3 } }, { a: -3 }],
  ['keeps a number above NaN', { a: -3 }, { $max: { a: Number.NaN } }, { a: -3 }],
  ['sets a string over a number', { a: 100 }, { $max: { a: '' } }, { a: '' }],
  ['sets an array over a number', { a: 100 }, { $max: { a: [] } }, { a: [] }],
  ['keeps a boolean above an array', { a: false }, { $max: { a: [9] } }, { a: false }],
  ['sets a later Date', { a: new Date(1) }, { $max: { a: new Date(5) } }, { a: new Date(5) }],
  ['sets a pattern over a Date', { a: new Date(1) }, { $max: { a: /x/ } }, { a: /x/ }],
  ['compares a bigint with a number by value', { a: 5 }, { $max: { a: 6n } }, { a: 6n }],
  ['sets an item', { a: [1, 2] }, { $max: { 'a.0': 5, 'a.1': 1 } }, { a: [5, 2] }],
  ['keeps an array above a longer, lower one', { a: [2] }, { $max: { a: [1, 9] } }, { a: [2] }],
]);

for (const name of ['$min', '$max']) {
  updateTable(`${name} keeps`, [
    ['a bigint equal to the number', { a: 5n }, { [name]: { a: 5 } }, { a: 5n }],
    ['a number equal to the bigint', { a: 5 }, { [name]: { a: 5n } }, { a: 5 }],
    ['-0, which equals 0', { a: -0 }, { [name]: { a: 0 } }, { a: -0 }],
    ['an equal object', { a: { x: [1] } }, { [name]: { a: { x: [1] } } }, { a: { x: [1] } }],
  ]);
  updateTable(`${name} refuses`, [
    [
      'a path through a number',
      { a: 1 },
      { [name]: { 'a.b': 1 } },
      refused('kind_mismatch', 'a.b'),
    ],
    ['a path through null', { a: null }, { [name]: { 'a.b': 1 } }, refused('kind_mismatch', 'a.b')],
    ['a name in an array', { a: [1] }, { [name]: { 'a.b': 1 } }, refused('key_invalid', 'a.b')],
  ]);
}

const date = new Date(NOW);
updateTable('$currentDate', [
  ['sets a Date', { a: 1 }, { $currentDate: { a: true } }, { a: date }],
  ['sets a Date for false', { a: 1 }, { $currentDate: { a: false } }, { a: date }],
  ['sets a Date by its type', {}, { $currentDate: { a: { $type: 'date' } } }, { a: date }],
  [
    'sets a number for a timestamp',
    {},
    { $currentDate: { a: { $type: 'timestamp' } } },
    { a: NOW },
  ],
  ['replaces an object', { a: { b: 1 }, c: 1 }, { $currentDate: { a: true } }, { a: date, c: 1 }],
  ['creates missing parents', {}, { $currentDate: { 'a.b': true } }, { a: { b: date } }],
  ['sets an item past the end', { a: [] }, { $currentDate: { 'a.1': true } }, { a: [null, date] }],
  [
    'sets several to one time',
    { b: 0 },
    { $currentDate: { b: true, a: { $type: 'timestamp' } } },
    { b: date, a: NOW },
  ],
  [
    'refuses a path through null',
    { a: null },
    { $currentDate: { 'a.b': true } },
    refused('kind_mismatch', 'a.b'),
  ],
  [
    'refuses a name in an array',
    { a: [1] },
    { $currentDate: { 'a.b': true } },
    refused('key_invalid', 'a.b'),
  ],
] satisfies Row[]);
