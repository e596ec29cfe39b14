import { type RefusalRow, refusalTable } from './cases.ts';

const place = 'changes.$push.tags';
const push = (operand: unknown): unknown => ({ $push: { tags: operand } });

function modifier(name: string, refused: readonly unknown[]): void {
  refusalTable(
    `${name} of $push`,
    refused.map(
      (value): RefusalRow => [
        push({ $each: [1], [name]: value }),
        'update_invalid',
        `${place}.${name}`,
        name,
      ],
    ),
  );
}

const notIntegers = [
  null,
  '1',
  1.5,
  2 ** 53,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  true,
  [1],
  {},
  new Date(0),
];
modifier('$slice', notIntegers);
modifier('$position', notIntegers);
modifier('$sort', [null, 0, 2, -2, 1.5, '1', true, [], [1], {}, Number.NaN, new Date(0), /x/]);
modifier('$each', [null, undefined, 1, 'x', {}, { 0: 1 }, new Set([1])]);

refusalTable('paths of $sort', [
  ...[0, 2, '1', null, true, {}, { y: 1 }, [1]].map(
    (direction): RefusalRow => [
      push({ $each: [], $sort: { x: 1, 'y.z': direction } }),
      'update_invalid',
      `${place}.$sort.y.z`,
    ],
  ),
  ...['', '.', 'x.', '.x', 'x..y'].map(
    (path): RefusalRow => [
      push({ $each: [], $sort: { [path]: 1 } }),
      'update_invalid',
      `${place}.$sort.${path}`,
    ],
  ),
]);

refusalTable('modifiers of $push', [
  [push({ $slice: 1 }), 'update_invalid', place, '$each'],
  [push({ $position: 1 }), 'update_invalid', place, '$each'],
  [push({ $sort: 1 }), 'update_invalid', place, '$each'],
  [push({ $each: [], $foo: 1 }), 'update_invalid', `${place}.$foo`, '$foo'],
  [push({ $each: [], x: 1 }), 'update_invalid', `${place}.x`, 'x'],
  [push({ x: 1, $each: [] }), 'update_invalid', `${place}.x`, 'x'],
  [push({ $each: [], constructor: 1 }), 'update_invalid', `${place}.constructor`],
]);

refusalTable('modifiers of $addToSet', [
  [
    { $addToSet: { tags: { $each: [], $slice: 1 } } },
    'update_invalid',
    'changes.$addToSet.tags.$slice',
  ],
  [{ $addToSet: { tags: { $each: [], x: 1 } } }, 'update_invalid', 'changes.$addToSet.tags.x'],
  ...[null, undefined, 1, 'x', {}].map(
    ($each): RefusalRow => [
      { $addToSet: { tags: { $each } } },
      'update_invalid',
      'changes.$addToSet.tags.$each',
    ],
  ),
]);
