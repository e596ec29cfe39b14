import { expect, test } from 'vitest';
import { arrayRows, NOT_ARRAYS, type Row, refused, updated, updateTable } from './cases.ts';

const { NaN: nan } = Number;

updateTable('$push', [
  ...arrayRows('$push', [
    ['appends', [1], 2, [1, 2]],
    ['appends to an empty array', [], 'x', ['x']],
    ['appends an equal item again', [1], 1, [1, 1]],
    ['appends an array as one item', [1], [2, 3], [1, [2, 3]]],
    ['appends an empty array as one item', [], [], [[]]],
    ['appends an object', [], { b: 1 }, [{ b: 1 }]],
    ['appends an empty object', [], {}, [{}]],
    ['appends null', [1], null, [1, null]],
    ['appends undefined', [1], undefined, [1, undefined]],
    ['appends values of any kind', [], new Date(3), [new Date(3)]],
    ['appends NaN', [nan], nan, [nan, nan]],
    ['appends a pattern', [], /x/g, [/x/g]],
    ['appends a bigint', [1], 1n, [1, 1n]],
  ]),
  ['makes an array of a missing field', { z: 1 }, { $push: { a: 1 } }, { z: 1, a: [1] }],
  ['makes one in missing parents', {}, { $push: { 'a.b.c': 1 } }, { a: { b: { c: [1] } } }],
  ['makes one past the end of an array', { a: [] }, { $push: { 'a.1': 1 } }, { a: [null, [1]] }],
  ['appends to an inner array', { a: [[1], [2]] }, { $push: { 'a.1': 3 } }, { a: [[1], [2, 3]] }],
  ['appends in an item', { a: [{ b: [1] }] }, { $push: { 'a.0.b': 2 } }, { a: [{ b: [1, 2] }] }],
  ['appends to several arrays', { a: [], b: [] }, { $push: { b: 1, a: 2 } }, { a: [2], b: [1] }],
]);

updateTable(
  '$push with $each',
  arrayRows('$push', [
    ['appends each', [1], { $each: [2, 3] }, [1, 2, 3]],
    ['appends none of none', [1], { $each: [] }, [1]],
    ['appends arrays as items', [], { $each: [[1], []] }, [[1], []]],
    ['keeps duplicates', [1], { $each: [1, 1] }, [1, 1, 1]],
    ['keeps null', [1], { $each: [null] }, [1, null]],
    [
      'takes operators inside of an item for fields',
      [],
      { $each: [{ $each: [1] }] },
      [{ $each: [1] }],
    ],
  ]),
);

updateTable('$push with $each to a missing field', [
  ['makes an array', {}, { $push: { a: { $each: [1, 2] } } }, { a: [1, 2] }],
  ['makes an empty array', {}, { $push: { a: { $each: [] } } }, { a: [] }],
  ['ignores the position', {}, { $push: { a: { $each: [1, 2], $position: 5 } } }, { a: [1, 2] }],
  ['sorts', {}, { $push: { a: { $each: [2, 1], $sort: 1 } } }, { a: [1, 2] }],
  ['slices', {}, { $push: { a: { $each: [1, 2, 3], $slice: -2 } } }, { a: [2, 3] }],
  ['slices to nothing', {}, { $push: { 'a.b': { $each: [1], $slice: 0 } } }, { a: { b: [] } }],
]);

updateTable(
  '$position',
  arrayRows('$push', [
    ['0 inserts before all', [1, 2], { $each: [8, 9], $position: 0 }, [8, 9, 1, 2]],
    ['-0 inserts before all', [1, 2], { $each: [9], $position: -0 }, [9, 1, 2]],
    ['inserts before the item there', [1, 2, 3], { $each: [8, 9], $position: 1 }, [1, 8, 9, 2, 3]],
    ['the length appends', [1, 2], { $each: [9], $position: 2 }, [1, 2, 9]],
    ['past the end appends', [1, 2], { $each: [9], $position: 50 }, [1, 2, 9]],
    [
      '-1 inserts before the last item',
      [1, 2, 3],
      { $each: [8, 9], $position: -1 },
      [1, 2, 8, 9, 3],
    ],
    ['-2 inserts before the last two', [1, 2, 3], { $each: [9], $position: -2 }, [1, 9, 2, 3]],
    ['the negative length inserts before all', [1, 2], { $each: [9], $position: -2 }, [9, 1, 2]],
    ['before the start inserts before all', [1, 2], { $each: [9], $position: -50 }, [9, 1, 2]],
    ['of an empty array does not matter', [], { $each: [8, 9], $position: -1 }, [8, 9]],
    ['of none inserts none', [1, 2], { $each: [], $position: 1 }, [1, 2]],
    ['takes the largest numbers', [1], { $each: [9], $position: Number.MAX_SAFE_INTEGER }, [1, 9]],
    ['takes the modifiers in any order', [1], { $position: 0, $each: [9] }, [9, 1]],
  ]),
);

updateTable(
  '$slice',
  arrayRows('$push', [
    ['keeps the first', [1, 2], { $each: [3], $slice: 2 }, [1, 2]],
    ['keeps the last', [1, 2], { $each: [3], $slice: -2 }, [2, 3]],
    ['0 empties', [1, 2], { $each: [3], $slice: 0 }, []],
    ['-0 empties', [1, 2], { $each: [3], $slice: -0 }, []],
    ['over the length keeps all', [1, 2], { $each: [3], $slice: 9 }, [1, 2, 3]],
    ['below the negative length keeps all', [1, 2], { $each: [3], $slice: -9 }, [1, 2, 3]],
    ['the length keeps all', [1, 2], { $each: [3], $slice: 3 }, [1, 2, 3]],
    ['slices without new items', [1, 2, 3], { $each: [], $slice: 1 }, [1]],
    ['-1 keeps the new item', [1, 2], { $each: [3], $slice: -1 }, [3]],
    ['comes after the position', [1, 2, 3], { $each: [9], $position: 0, $slice: 3 }, [9, 1, 2]],
    [
      'of the end can drop what was inserted',
      [1, 2],
      { $each: [9], $position: 0, $slice: -2 },
      [1, 2],
    ],
  ]),
);

updateTable(
  '$push with all modifiers',
  arrayRows('$push', [
    ['inserts, sorts, then slices', [5, 3], { $each: [4, 1], $sort: 1, $slice: 3 }, [1, 3, 4]],
    ['keeps the highest', [5, 3], { $each: [4, 1], $sort: -1, $slice: 2 }, [5, 4]],
    ['keeps the last of the sorted', [5, 3], { $each: [4, 1], $sort: 1, $slice: -2 }, [4, 5]],
    [
      'inserts equal items where the position says',
      [
        { n: 1, s: 'a' },
        { n: 2, s: 'b' },
      ],
      {
        $slice: 3,
        $sort: { n: 1 },
        $position: 0,
        $each: [
          { n: 2, s: 'new' },
          { n: 1, s: 'new' },
        ],
      },
      [
        { n: 1, s: 'new' },
        { n: 1, s: 'a' },
        { n: 2, s: 'new' },
      ],
    ],
    ['sorts and slices without new items', [3, 1, 2], { $each: [], $sort: 1, $slice: 2 }, [1, 2]],
    ['0 empties whatever the order', [3, 1], { $each: [2], $sort: -1, $slice: 0 }, []],
  ]),
);

const pushing = { $push: [{}, { $each: [] }, 1], $addToSet: [{}, { $each: [] }, 1] };
for (const [name, [item, each, one]] of Object.entries(pushing)) {
  updateTable(`${name} refuses`, [
    ...NOT_ARRAYS.map(
      (value): Row => [
        Object.prototype.toString.call(value),
        { x: { a: value } },
        { [name]: { 'x.a': one } },
        refused('kind_mismatch', 'x.a'),
      ],
    ),
    ['null, even for nothing', { a: null }, { [name]: { a: each } }, refused('kind_mismatch', 'a')],
    ['an item of null', { a: [null] }, { [name]: { 'a.0': one } }, refused('kind_mismatch', 'a.0')],
    ['an object for an object', { a: {} }, { [name]: { a: item } }, refused('kind_mismatch', 'a')],
    ['a path through null', { a: null }, { [name]: { 'a.b': 1 } }, refused('kind_mismatch', 'a.b')],
    [
      'a path through a string',
      { a: 'x' },
      { [name]: { 'a.b': 1 } },
      refused('kind_mismatch', 'a.b'),
    ],
    [
      'a name in an array',
      { a: [{ b: [] }] },
      { [name]: { 'a.b': 1 } },
      refused('key_invalid', 'a.b'),
    ],
  ]);
}

test('$push takes more items than a call takes arguments', () => {
  const $each = Array.from({ length: 300_000 }, (_, at) => at);
  const { a } = updated({ a: ['first', 'last'] }, { $push: { a: { $each, $position: 1 } } }) as {
    a: unknown[];
  };
  expect([a.length, a[0], a[1], a[300_000], a[300_001]]).toEqual([
    300_002,
    'first',
    0,
    299_999,
    'last',
  ]);
});
