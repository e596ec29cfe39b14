import { arrayRows, NOT_ARRAYS, type Row, refused, updateTable } from './cases.ts';

updateTable(
  '$pullAll',
  arrayRows('$pullAll', [
    ['removes every item that equals one', [1, 2, 3, 1, 2], [1, 3], [2, 2]],
    ['removes nothing of nothing', [1, 2], [], [1, 2]],
    ['does nothing in an empty array', [], [1], []],
    ['removes null', [null, 0, false], [null], [0, false]],
    ['removes NaN', [Number.NaN, 1], [Number.NaN], [1]],
    ['takes 0 for -0, and a bigint for its number', [-0, 1n, 2], [0, 1], [2]],
    ['tells strings from numbers', [1, '1'], ['1'], [1]],
    ['removes Dates of the time', [new Date(1), new Date(2)], [new Date(2)], [new Date(1)]],
    ['wants objects whole', [{ x: 1 }, { x: 1, y: 2 }], [{ x: 1 }], [{ x: 1, y: 2 }]],
    [
      'wants the order of fields',
      [
        { x: 1, y: 2 },
        { y: 2, x: 1 },
      ],
      [{ y: 2, x: 1 }],
      [{ x: 1, y: 2 }],
    ],
    ['wants arrays whole', [[1, 2], [1], 1], [[1, 2]], [[1], 1]],
    ['looks into no inner array', [[1], 1], [1], [[1]]],
    ['takes operators for fields', [5, { $gt: 1 }], [{ $gt: 1 }], [5]],
    ['removes a pattern, and not what it matches', ['x', /x/], [/x/], ['x']],
    ['removes an empty object, and no other', [{}, { x: 1 }], [{}], [{ x: 1 }]],
  ]),
);

updateTable('$pop', [
  ['1 removes the last item', { a: [1, 2, 3], z: 1 }, { $pop: { a: 1 } }, { a: [1, 2], z: 1 }],
  ['-1 removes the first item', { a: [1, 2, 3], z: 1 }, { $pop: { a: -1 } }, { a: [2, 3], z: 1 }],
  ['leaves an empty array', { a: [1] }, { $pop: { a: 1 } }, { a: [] }],
  ['leaves an empty array from the start too', { a: [[1]] }, { $pop: { a: -1 } }, { a: [] }],
  ['does nothing to an empty array', { a: [] }, { $pop: { a: -1 } }, { a: [] }],
  ['removes an item of null', { a: [1, null] }, { $pop: { a: 1 } }, { a: [1] }],
  [
    'pops inner arrays',
    {
      a: [
        [1, 2],
        [3, 4],
      ],
    },
    { $pop: { 'a.0': 1, 'a.1': -1 } },
    { a: [[1], [4]] },
  ],
  ['pops in objects', { a: { b: [1, 2] } }, { $pop: { 'a.b': -1 } }, { a: { b: [2] } }],
  ['pops in items', { a: [{ b: [1, 2] }] }, { $pop: { 'a.0.b': 1 } }, { a: [{ b: [1] }] }],
]);

const removing = { $pull: 1, $pullAll: [1], $pop: 1 };

for (const [name, operand] of Object.entries(removing)) {
  updateTable(`${name} does nothing`, [
    ['where the field is missing', { z: 1 }, { [name]: { a: operand } }, { z: 1 }],
    ['where its parents are', { a: {} }, { [name]: { 'a.b.c': operand } }, { a: {} }],
    ['behind the end of an array', { a: [] }, { [name]: { 'a.0': operand } }, { a: [] }],
    ['behind the end of an array, deeper', { a: [] }, { [name]: { 'a.3.b': operand } }, { a: [] }],
    ['for inherited names', { a: {} }, { [name]: { 'a.constructor.x': operand } }, { a: {} }],
  ]);
  updateTable(`${name} refuses`, [
    ...NOT_ARRAYS.map(
      (value): Row => [
        Object.prototype.toString.call(value),
        { x: { a: value } },
        { [name]: { 'x.a': operand } },
        refused('kind_mismatch', 'x.a'),
      ],
    ),
    [
      'an item of null',
      { a: [null] },
      { [name]: { 'a.0': operand } },
      refused('kind_mismatch', 'a.0'),
    ],
    [
      'a path through a string',
      { a: 'x' },
      { [name]: { 'a.b': operand } },
      refused('kind_mismatch', 'a.b'),
    ],
    [
      'a path through null',
      { a: null },
      { [name]: { 'a.b': operand } },
      refused('kind_mismatch', 'a.b'),
    ],
  ]);
}
