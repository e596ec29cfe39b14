import { describe, expect, test } from 'vitest';
import { type Row, updated, updateTable } from './cases.ts';

/** Rows that sort one array, without new items. */
function sorts(
  rows: readonly (readonly [title: string, before: unknown[], sort: unknown, after: unknown[]])[],
): Row[] {
  return rows.map(([title, before, $sort, after]) => [
    title,
    { a: before },
    { $push: { a: { $each: [], $sort } } },
    { a: after },
  ]);
}

const day = new Date(0);

updateTable(
  '$sort by whole items',
  sorts([
    ['1 goes up', [3, 1, 2], 1, [1, 2, 3]],
    ['-1 goes down', [3, 1, 2], -1, [3, 2, 1]],
    ['compares numbers as numbers', [10, 9, 1], 1, [1, 9, 10]],
    ['compares strings by code unit', ['b', 'B', 'a', 'é'], 1, ['B', 'a', 'b', 'é']],
    [
      'orders kinds as BSON does',
      [/x/, day, true, [0], { x: 0 }, 'x', 5, null],
      1,
      [null, 5, 'x', { x: 0 }, [0], true, day, /x/],
    ],
    ['puts undefined first', [1, undefined, null], 1, [undefined, null, 1]],
    ['puts undefined last, going down', [null, undefined, 1], -1, [1, null, undefined]],
    ['puts NaN below numbers', [1, Number.NaN, -1], 1, [Number.NaN, -1, 1]],
    ['keeps the order of equal items', [1, 1n, 0, -0], 1, [0, -0, 1, 1n]],
    ['keeps the order of equal items going down', [0, -0, 1, 1n], -1, [1, 1n, 0, -0]],
    ['compares arrays item by item', [[2], [1, 9], [1]], 1, [[1], [1, 9], [2]]],
    [
      'compares objects field by field',
      [{ x: 2 }, { x: 1, y: 1 }, { x: 1 }],
      1,
      [{ x: 1 }, { x: 1, y: 1 }, { x: 2 }],
    ],
    ['takes items for items, not for what is in them', [[9], 1, [0]], 1, [1, [0], [9]]],
  ]),
);

updateTable(
  '$sort by paths',
  sorts([
    ['goes up', [{ n: 2 }, { n: 1 }], { n: 1 }, [{ n: 1 }, { n: 2 }]],
    ['goes down', [{ n: 1 }, { n: 2 }], { n: -1 }, [{ n: 2 }, { n: 1 }]],
    [
      'reads nested fields',
      [{ n: { x: 2 } }, { n: { x: 1 } }, { n: {} }],
      { 'n.x': 1 },
      [{ n: {} }, { n: { x: 1 } }, { n: { x: 2 } }],
    ],
    [
      'takes missing for null',
      [{ n: 1 }, { x: 1 }, { n: null }, { n: 0 }],
      { n: 1 },
      [{ x: 1 }, { n: null }, { n: 0 }, { n: 1 }],
    ],
    [
      'takes every field of a scalar for missing',
      [{ n: 1 }, 'x', 5, [9], null],
      { n: 1 },
      ['x', 5, [9], null, { n: 1 }],
    ],
    [
      'keeps the order of equal items',
      [
        { n: 2, s: 1 },
        { n: 1, s: 2 },
        { n: 2, s: 3 },
        { n: 1, s: 4 },
      ],
      { n: 1 },
      [
        { n: 1, s: 2 },
        { n: 1, s: 4 },
        { n: 2, s: 1 },
        { n: 2, s: 3 },
      ],
    ],
    [
      'keeps the order of equal items going down',
      [
        { n: 1, s: 1 },
        { n: 2, s: 2 },
        { n: 1, s: 3 },
        { n: 2, s: 4 },
      ],
      { n: -1 },
      [
        { n: 2, s: 2 },
        { n: 2, s: 4 },
        { n: 1, s: 1 },
        { n: 1, s: 3 },
      ],
    ],
    [
      'takes the second path for equal first ones',
      [
        { n: 1, s: 'a' },
        { n: 2, s: 'a' },
        { n: 1, s: 'b' },
      ],
      { n: 1, s: -1 },
      [
        { n: 1, s: 'b' },
        { n: 1, s: 'a' },
        { n: 2, s: 'a' },
      ],
    ],
    [
      'compares arrays whole, not by their least item',
      [{ n: [2, 1] }, { n: [1, 9] }, { n: 5 }],
      { n: 1 },
      [{ n: 5 }, { n: [1, 9] }, { n: [2, 1] }],
    ],
    [
      'finds no field in the items of an array',
      [{ n: 1 }, { n: [{ x: 0 }] }, { n: { x: 1 } }],
      { 'n.x': 1 },
      [{ n: 1 }, { n: [{ x: 0 }] }, { n: { x: 1 } }],
    ],
    [
      'finds no position in an item that is an array',
      [[9], [1], { 0: 5 }],
      { 0: 1 },
      [[9], [1], { 0: 5 }],
    ],
    [
      'reads a position of an array inside of an item',
      [{ n: [2] }, { n: [1] }],
      { 'n.0': 1 },
      [{ n: [1] }, { n: [2] }],
    ],
    [
      'finds no inherited field',
      [{ n: 2, toString: 1 }, { n: 1 }],
      { toString: 1 },
      [{ n: 1 }, { n: 2, toString: 1 }],
    ],
  ]),
);

describe('$sort', () => {
  test('keeps the order of many equal items', () => {
    const items = Array.from({ length: 600 }, (_, at) => ({ n: at % 3, at }));
    const { a } = updated({ a: items }, { $push: { a: { $each: [], $sort: { n: 1 } } } }) as {
      a: typeof items;
    };
    expect(a).toEqual([0, 1, 2].flatMap((n) => items.filter((item) => item.n === n)));
  });
});
