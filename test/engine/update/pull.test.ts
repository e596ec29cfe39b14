import { arrayRows, refused, updateTable } from './cases.ts';

updateTable(
  '$pull of a value',
  arrayRows('$pull', [
    ['removes each equal item', [1, 2, 1, 3, 1], 1, [2, 3]],
    ['removes nothing that is not equal', [1, '2'], 2, [1, '2']],
    ['can remove all', [1, 1], 1, []],
    ['does nothing in an empty array', [], 1, []],
    [
      'removes null, and nothing else',
      [null, 0, '', false, { x: null }, []],
      null,
      [0, '', false, { x: null }, []],
    ],
    ['removes NaN', [1, Number.NaN], Number.NaN, [1]],
    ['takes 0 for -0', [0, -0, 1], -0, [1]],
    ['takes a number for its bigint', [1n, 2n], 1, [2n]],
    ['removes Dates of the time', [new Date(1), new Date(2)], new Date(1), [new Date(2)]],
    ['looks into no inner array', [[1], 1, [2]], 1, [[1], [2]]],
    ['removes an equal array', [[1, 2], [2, 1], [1], 1, 2], [1, 2], [[2, 1], [1], 1, 2]],
    ['removes an empty array', [[], [1], {}], [], [[1], {}]],
    ['looks for no array inside of an inner one', [[[1]], [1]], [1], [[[1]]]],
    ['removes a boolean', [true, 1, 'true'], true, [1, 'true']],
    ['keeps the items of other kinds', [/x/, 'x', { x: 'x' }], 'x', [/x/, { x: 'x' }]],
  ]),
);

updateTable(
  '$pull of objects, by criteria',
  arrayRows('$pull', [
    [
      'removes objects with the field',
      [{ x: 1, y: 1 }, { x: 2 }, { y: 1 }],
      { x: 1 },
      [{ x: 2 }, { y: 1 }],
    ],
    ['wants all fields, in any order', [{ y: 2, x: 1 }, { x: 1 }], { x: 1, y: 2 }, [{ x: 1 }]],
    [
      'takes operators',
      [{ n: 1 }, { n: 5 }, { n: 9 }],
      { n: { $gte: 2, $lt: 9 } },
      [{ n: 1 }, { n: 9 }],
    ],
    ['takes dotted paths', [{ x: { y: 1 } }, { x: { y: 2 } }], { 'x.y': 1 }, [{ x: { y: 2 } }]],
    ['reaches into the arrays of an item', [{ x: [1, 2] }, { x: [3] }], { x: 2 }, [{ x: [3] }]],
    [
      'reaches into objects in the arrays of an item',
      [{ x: [{ q: 1 }, { q: 9 }] }, { x: [{ q: 1 }] }],
      { x: { $elemMatch: { q: { $gt: 5 } } } },
      [{ x: [{ q: 1 }] }],
    ],
    [
      'wants a nested object whole',
      [{ x: { y: 1, z: 2 } }, { x: { y: 1 } }],
      { x: { y: 1 } },
      [{ x: { y: 1, z: 2 } }],
    ],
    ['takes a pattern', [{ s: 'ab' }, { s: 'b' }], { s: /^a/ }, [{ s: 'b' }]],
    ['takes null for a missing field', [{ x: null }, { y: 1 }, { x: 1 }], { x: null }, [{ x: 1 }]],
    ['keeps scalars, whatever they lack', [1, 'x', null, { y: 1 }], { x: null }, [1, 'x', null]],
    [
      'keeps scalars under a negation',
      [1, 'x', { x: 1 }, { x: 2 }],
      { x: { $ne: 1 } },
      [1, 'x', { x: 1 }],
    ],
    ['keeps inner arrays under a negation', [[5], { x: 2 }], { x: { $ne: 1 } }, [[5]]],
    ['takes no position of an inner array for a field', [[1, 2], { 0: 1 }], { 0: 1 }, [[1, 2]]],
    ['keeps inner arrays', [[{ x: 1 }], { x: 1 }], { x: 1 }, [[{ x: 1 }]]],
    [
      'keeps Dates and other objects',
      [new Date(0), new Map([['x', 1]])],
      { x: null },
      [new Date(0), new Map([['x', 1]])],
    ],
    ['without fields removes every object', [{}, { x: 1 }, 1, [], null], {}, [1, [], null]],
    ['takes $or', [{ x: 1 }, { y: 1 }, { z: 1 }, 1], { $or: [{ x: 1 }, { y: 1 }] }, [{ z: 1 }, 1]],
    ['takes $and', [{ x: 1, y: 1 }, { x: 1 }], { $and: [{ x: 1 }, { y: 1 }] }, [{ x: 1 }]],
    ['takes $nor', [{ x: 1 }, { y: 1 }, 5], { $nor: [{ x: 1 }] }, [{ x: 1 }, 5]],
    [
      'takes $or beside a field',
      [{ x: 1, y: 1 }, { x: 2, y: 1 }, { x: 1 }],
      { y: 1, $or: [{ x: 1 }] },
      [{ x: 2, y: 1 }, { x: 1 }],
    ],
    ['finds no inherited field', [{ x: 1 }], { toString: { $exists: true } }, [{ x: 1 }]],
    ['takes _id for a field of the item', [{ _id: 1 }, { _id: 2 }], { _id: 1 }, [{ _id: 2 }]],
  ]),
);

updateTable(
  '$pull of items, by operators',
  arrayRows('$pull', [
    ['$gte', [1, 5, 9, '9'], { $gte: 5 }, [1, '9']],
    ['two operators', [1, 5, 9], { $gt: 1, $lt: 9 }, [1, 9]],
    ['$in', [1, 2, 3, '1'], { $in: [1, 3] }, [2, '1']],
    ['$in with a pattern', ['ab', 'b', 1], { $in: [/^a/, 1] }, ['b']],
    ['$nin', [1, 2, 3], { $nin: [1, 3] }, [1, 3]],
    ['$ne', [1, 2, null], { $ne: 1 }, [1]],
    ['$eq', [1, 2, 1], { $eq: 1 }, [2]],
    ['$eq of an object, whole', [{ x: 1 }, { x: 1, y: 2 }], { $eq: { x: 1 } }, [{ x: 1, y: 2 }]],
    ['$type', [1, 'x', null, 'y'], { $type: 'string' }, [1, null]],
    ['$regex', ['ab', 'b', 1], { $regex: '^a' }, ['b', 1]],
    ['$regex with $options', ['Ab', 'b'], { $regex: '^a', $options: 'i' }, ['b']],
    ['$mod', [1, 2, 3, 4], { $mod: [2, 0] }, [1, 3]],
    ['$size', [[1], [1, 2], 'x'], { $size: 2 }, [[1], 'x']],
    ['$all', [[1, 2], [1], 1], { $all: [1, 2] }, [[1], 1]],
    ['$elemMatch', [[1, 9], [2], 9], { $elemMatch: { $gt: 5 } }, [[2], 9]],
    ['$exists removes all', [1, null, {}], { $exists: true }, []],
    ['$gt of null removes nothing', [1, null], { $gt: null }, [1, null]],
    ['$lt below a Date', [new Date(1), new Date(9), 1], { $lt: new Date(5) }, [new Date(9), 1]],
    [
      'an operator reaches into inner arrays, as in a query',
      [[1, 9], [1], 9, 2],
      { $gt: 5 },
      [[1], 2],
    ],
    ['$eq reaches into inner arrays', [[1, 2], 1, [3]], { $eq: 1 }, [[3]]],
  ]),
);

updateTable(
  '$pull by a pattern',
  arrayRows('$pull', [
    ['removes the strings it matches', ['ab', 'ba', 'b', 1, null], /^a/, ['ba', 'b', 1, null]],
    ['obeys its flags', ['Ab', 'b'], /^a/i, ['b']],
    ['forgets where a global one stopped', ['a', 'a', 'a'], /a/g, []],
    ['removes the same pattern', [/x/, /y/, /x/i], /x/, [/y/, /x/i]],
    ['reaches into inner arrays, as in a query', [['a', 'b'], ['b'], 'a'], /a/, [['b']]],
    ['looks into no object', [{ s: 'a' }], /a/, [{ s: 'a' }]],
  ]),
);

updateTable('$pull', [
  ['does nothing where the field is missing', { z: 1 }, { $pull: { a: 1 } }, { z: 1 }],
  ['does nothing where its parents are', {}, { $pull: { 'a.b.c': 1 } }, {}],
  [
    'does nothing behind the end of an array',
    { a: [[1]] },
    { $pull: { 'a.1': 1, 'a.2.b': 1 } },
    { a: [[1]] },
  ],
  ['reaches into objects', { a: { b: [1, 2] } }, { $pull: { 'a.b': 1 } }, { a: { b: [2] } }],
  ['reaches into an item', { a: [{ b: [1, 2] }] }, { $pull: { 'a.0.b': 1 } }, { a: [{ b: [2] }] }],
  ['reaches into an inner array', { a: [[1, 2], [1]] }, { $pull: { 'a.0': 1 } }, { a: [[2], [1]] }],
  [
    'pulls from several arrays',
    { a: [1, 2], b: [1, 2] },
    { $pull: { a: 1, b: { $gt: 1 } } },
    { a: [2], b: [1] },
  ],
  [
    'refuses a name in an array',
    { a: [{ b: [1] }] },
    { $pull: { 'a.b': 1 } },
    refused('key_invalid', 'a.b'),
  ],
]);
