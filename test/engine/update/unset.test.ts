import { type Row, refused, updateTable } from './cases.ts';

updateTable('$unset', [
  [
    'removes a field and keeps the order',
    { a: 1, b: 2, c: 3 },
    { $unset: { b: '' } },
    { a: 1, c: 3 },
  ],
  ['removes a nested field, not its parent', { a: { b: 1 } }, { $unset: { 'a.b': 1 } }, { a: {} }],
  ['removes a stored null', { a: null }, { $unset: { a: 1 } }, {}],
  ['removes a stored undefined', { a: undefined }, { $unset: { a: 1 } }, {}],
  ['removes an array whole', { a: [1, 2], b: 1 }, { $unset: { a: 1 } }, { b: 1 }],
  [
    'removes several fields',
    { a: 1, b: { c: 1, d: 2 } },
    { $unset: { 'b.c': 1, a: 1 } },
    { b: { d: 2 } },
  ],
  ['sets an item to null', { a: [1, 2, 3] }, { $unset: { 'a.1': 1 } }, { a: [1, null, 3] }],
  [
    'keeps the length with the last item',
    { a: [1, 2] },
    { $unset: { 'a.1': 1 } },
    { a: [1, null] },
  ],
  [
    'sets an item of an inner array to null',
    { a: [[1, 2]] },
    { $unset: { 'a.0.0': 1 } },
    { a: [[null, 2]] },
  ],
  [
    'removes a field of an item',
    { a: [{ b: 1, c: 2 }] },
    { $unset: { 'a.0.b': 1 } },
    { a: [{ c: 2 }] },
  ],
  [
    'removes a field named by digits',
    { a: { 0: 'x', 1: 'y' } },
    { $unset: { 'a.0': 1 } },
    { a: { 1: 'y' } },
  ],
]);

const nothing = { a: [{ b: 1 }], n: null, s: 'text', o: { p: 1 }, d: new Date(0) };
updateTable(
  '$unset does nothing',
  [
    ['where a field is missing', 'x'],
    ['where its parents are', 'x.y.z'],
    ['behind the end of an array', 'a.1'],
    ['behind the end of an array, deeper', 'a.5.b'],
    ['for a name in an array, which is no field of its items', 'a.b'],
    ['for the length of an array', 'a.length'],
    ['for an index with leading zeros', 'a.00'],
    ['through null', 'n.x'],
    ['through a string', 's.0'],
    ['for the length of a string', 's.length'],
    ['through a number, deeper', 'o.p.q.r'],
    ['through a Date', 'd.getTime'],
    ['for inherited names', 'constructor'],
    ['for inherited names, deeper', 'o.toString.name'],
  ].map(
    ([title, path]): Row => [
      title as string,
      nothing,
      { $unset: { [path as string]: 1 } },
      nothing,
    ],
  ),
);

updateTable(
  '$unset ignores its operand',
  ['', 0, false, null, undefined, 5n, [1], { x: 1 }, /x/].map(
    (operand): Row => [String(operand), { a: 1, b: 2 }, { $unset: { a: operand } }, { b: 2 }],
  ),
);

updateTable('$rename', [
  ['moves a field behind the others', { a: 1, b: 2 }, { $rename: { a: 'c' } }, { b: 2, c: 1 }],
  [
    'replaces the target where it stands',
    { a: 1, b: 2, c: 3 },
    { $rename: { c: 'a' } },
    { a: 3, b: 2 },
  ],
  ['replaces a target of any kind', { a: 1, b: { x: [1] } }, { $rename: { a: 'b' } }, { b: 1 }],
  ['replaces a target that is equal', { a: 1, b: 1 }, { $rename: { a: 'b' } }, { b: 1 }],
  ['creates missing parents', { a: 1 }, { $rename: { a: 'x.y.z' } }, { x: { y: { z: 1 } } }],
  ['leaves an empty parent', { a: { b: 1 } }, { $rename: { 'a.b': 'c' } }, { a: {}, c: 1 }],
  [
    'moves beside itself',
    { a: { b: 1, c: 2 } },
    { $rename: { 'a.b': 'a.d' } },
    { a: { c: 2, d: 1 } },
  ],
  ['moves null', { a: null }, { $rename: { a: 'b' } }, { b: null }],
  ['moves a stored undefined', { a: undefined }, { $rename: { a: 'b' } }, { b: undefined }],
  [
    'moves arrays and objects whole',
    { a: [{ x: [1] }], b: { c: 2 } },
    { $rename: { a: 'c', b: 'd' } },
    { c: [{ x: [1] }], d: { c: 2 } },
  ],
  ['replaces an array', { a: 1, b: [1, 2] }, { $rename: { a: 'b' } }, { b: 1 }],
  [
    'adds by the names of the targets',
    { m: 0, x: 1, y: 2 },
    { $rename: { x: 'c', y: 'b' } },
    { m: 0, b: 2, c: 1 },
  ],
  [
    'takes a name with digits in an object',
    { a: { 0: 'x' } },
    { $rename: { 'a.0': 'a.1' } },
    { a: { 1: 'x' } },
  ],
  ['does nothing without the source', { b: 1 }, { $rename: { a: 'b' } }, { b: 1 }],
  [
    'does nothing without the parents of the source',
    { b: 1 },
    { $rename: { 'x.y.z': 'b' } },
    { b: 1 },
  ],
  [
    'takes no inherited name for a source',
    { b: 1 },
    { $rename: { toString: 'b', 'b2.constructor': 'c' } },
    { b: 1 },
  ],
  [
    'creates an own field with an inherited name',
    { a: 1 },
    { $rename: { a: 'toString' } },
    { toString: 1 },
  ],
  [
    'does nothing without the source, wherever the target leads',
    { b: 1 },
    { $rename: { a: 'b.c' } },
    { b: 1 },
  ],
  [
    'moves beside other operators',
    { a: 1, n: 1 },
    { $rename: { a: 'b' }, $inc: { n: 1 } },
    { n: 2, b: 1 },
  ],
]);

updateTable('$rename refuses', [
  [
    'a target through a scalar',
    { a: 1, b: 'x' },
    { $rename: { a: 'b.c' } },
    refused('kind_mismatch', 'b.c'),
  ],
  [
    'a target through null',
    { a: 1, b: null },
    { $rename: { a: 'b.c' } },
    refused('kind_mismatch', 'b.c'),
  ],
  [
    'a target that is an item',
    { a: 1, b: [2] },
    { $rename: { a: 'b.0' } },
    refused('kind_mismatch', 'b.0'),
  ],
  [
    'a target behind the items',
    { a: 1, b: [] },
    { $rename: { a: 'b.0' } },
    refused('kind_mismatch', 'b.0'),
  ],
  [
    'a target inside of an item',
    { a: 1, b: [{}] },
    { $rename: { a: 'b.0.c' } },
    refused('kind_mismatch', 'b.0.c'),
  ],
  [
    'a target by name in an array',
    { a: 1, b: [{}] },
    { $rename: { a: 'b.c' } },
    refused('kind_mismatch', 'b.c'),
  ],
  [
    'a source that is an item',
    { a: [1] },
    { $rename: { 'a.0': 'b' } },
    refused('kind_mismatch', 'a.0'),
  ],
  [
    'a source inside of an item',
    { a: [{ b: 1 }] },
    { $rename: { 'a.0.b': 'c' } },
    refused('kind_mismatch', 'a.0.b'),
  ],
  [
    'a source by name in an array',
    { a: [{ b: 1 }] },
    { $rename: { 'a.b': 'c' } },
    refused('kind_mismatch', 'a.b'),
  ],
  [
    'a source through a scalar',
    { a: 5 },
    { $rename: { 'a.b': 'c' } },
    refused('kind_mismatch', 'a.b'),
  ],
]);
