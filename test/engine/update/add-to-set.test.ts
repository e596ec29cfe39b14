import { arrayRows, updateTable } from './cases.ts';

updateTable(
  '$addToSet',
  arrayRows('$addToSet', [
    ['adds a new item at the end', [2], 1, [2, 1]],
    ['adds no equal item', [1, 2], 1, [1, 2]],
    ['keeps the duplicates that are there', [1, 1, 2], 3, [1, 1, 2, 3]],
    ['keeps the duplicates that are there, adding nothing', [1, 1, 2], 2, [1, 1, 2]],
    ['tells a string from a number', [1], '1', [1, '1']],
    ['adds null once', [1], null, [1, null]],
    ['adds no second null', [null], null, [null]],
    ['adds no second NaN', [Number.NaN], Number.NaN, [Number.NaN]],
    ['takes -0 for 0', [0], -0, [0]],
    ['takes a bigint for its number', [1], 1n, [1]],
    ['takes Dates for their time', [new Date(5)], new Date(5), [new Date(5)]],
    ['tells a Date from its time', [5], new Date(5), [5, new Date(5)]],
    ['takes patterns for their source and flags', [/x/i], /x/i, [/x/i]],
    ['tells flags of patterns', [/x/i], /x/g, [/x/i, /x/g]],
    ['takes no pattern for the strings it matches', ['x'], /x/, ['x', /x/]],
    ['adds no equal object', [{ x: 1, y: [2] }], { x: 1, y: [2] }, [{ x: 1, y: [2] }]],
    [
      'tells the order of fields',
      [{ x: 1, y: 2 }],
      { y: 2, x: 1 },
      [
        { x: 1, y: 2 },
        { y: 2, x: 1 },
      ],
    ],
    ['tells an object with more fields', [{ x: 1, y: 2 }], { x: 1 }, [{ x: 1, y: 2 }, { x: 1 }]],
    ['adds an array as one item', [1], [1, 2], [1, [1, 2]]],
    ['adds no equal array', [[1, 2]], [1, 2], [[1, 2]]],
    [
      'tells the order of items',
      [[1, 2]],
      [2, 1],
      [
        [1, 2],
        [2, 1],
      ],
    ],
    ['looks into no inner array', [[1]], 1, [[1], 1]],
    ['adds an empty object', [], {}, [{}]],
    ['adds an empty array', [], [], [[]]],
  ]),
);

updateTable(
  '$addToSet with $each',
  arrayRows('$addToSet', [
    ['adds what is new, in its order', [2], { $each: [3, 2, 1] }, [2, 3, 1]],
    ['adds duplicates once', [], { $each: [1, 2, 1, 1] }, [1, 2]],
    ['adds the first of the equal ones', [], { $each: [1n, 1, -0, 0] }, [1n, -0]],
    ['adds equal objects once', [], { $each: [{ x: 1 }, { x: 1 }] }, [{ x: 1 }]],
    ['adds nothing of nothing', [1, 1], { $each: [] }, [1, 1]],
    ['adds arrays as items', [[1]], { $each: [[1], [2]] }, [[1], [2]]],
    [
      'takes $each inside of an item for a field',
      [],
      { $each: [{ $each: [1] }] },
      [{ $each: [1] }],
    ],
  ]),
);

updateTable('$addToSet to a missing field', [
  ['makes an array', { z: 1 }, { $addToSet: { a: 1 } }, { z: 1, a: [1] }],
  [
    'makes an array without duplicates',
    {},
    { $addToSet: { a: { $each: [2, 1, 2] } } },
    { a: [2, 1] },
  ],
  ['makes an empty array', {}, { $addToSet: { a: { $each: [] } } }, { a: [] }],
  ['makes an array in an array', {}, { $addToSet: { a: [1, 1] } }, { a: [[1, 1]] }],
  ['makes missing parents', {}, { $addToSet: { 'a.b': 1 } }, { a: { b: [1] } }],
  [
    'makes one past the end of an array',
    { a: [] },
    { $addToSet: { 'a.1': 1 } },
    { a: [null, [1]] },
  ],
  ['adds in an item', { a: [{ b: [1] }] }, { $addToSet: { 'a.0.b': 2 } }, { a: [{ b: [1, 2] }] }],
]);
