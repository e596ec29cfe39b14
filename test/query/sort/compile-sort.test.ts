import { describe, expect, test } from 'vitest';
import { CriteriaError } from '../../../src/errors/errors.ts';
import { compileSort } from '../../../src/query/sort/compile-sort.ts';

function sorted(sort: unknown, documents: readonly object[]): object[] {
  const order = compileSort(sort);
  return documents.toSorted((a, b) => order.compare(order.keyOf(a), order.keyOf(b)));
}

/** The values of `a` in the order of `sort`. */
function values(sort: unknown, ...list: readonly unknown[]): unknown[] {
  const documents = list.map((a) => ({ a }));
  return sorted(sort, documents).map((document) => (document as { a: unknown }).a);
}

describe('a sort', () => {
  test('orders every type', () => {
    const mixed = [true, 'b', 2, null, new Date(0), 'a', Number.NaN, 1n, { x: 1 }, false, 1.5];
    expect(values({ a: 1 }, ...mixed)).toEqual([
      ...[null, Number.NaN, 1n, 1.5, 2, 'a', 'b', { x: 1 }, false, true, new Date(0)],
    ]);
  });

  test('sorts missing and undefined like null, and is stable', () => {
    const documents = [{ n: 1, a: 0 }, { n: 2, a: null }, { n: 3 }, { n: 4, a: undefined }];
    expect(sorted({ a: 1 }, documents)).toEqual([...documents.slice(1), documents[0]]);
    expect(sorted({ a: -1 }, documents)).toEqual(documents);
  });

  test('uses the least item of an array ascending and the greatest descending', () => {
    expect(values({ a: 1 }, 4, [3, 9], [5, 1], 2)).toEqual([[5, 1], 2, [3, 9], 4]);
    expect(values({ a: -1 }, 4, [3, 9], [5, 1], 2)).toEqual([[3, 9], [5, 1], 4, 2]);
  });

  test('puts an empty array before null, and unwinds one level of arrays', () => {
    expect(values({ a: 1 }, null, [[0]], [], 'x', [5])).toEqual([[], null, [5], 'x', [[0]]]);
  });

  test.each([
    [{ b: [{ c: 4 }, { c: 2 }] }, 2, 4],
    [{ b: [{ c: [7, 1] }, { c: 3 }] }, 1, 7],
    [{ b: [] }, null, null],
    [{ b: [5, { c: 3 }] }, null, 3],
    [{ b: [{ c: [] }] }, undefined, undefined],
    [{ b: { c: 1 } }, 1, 1],
    [{ b: 'text' }, null, null],
    [{ b: new Map([['c', 1]]) }, null, null],
  ])('reaches into %j', (document, least, greatest) => {
    expect(compileSort({ 'b.c': 1 }).keyOf(document)).toEqual(least);
    expect(compileSort({ 'b.c': -1 }).keyOf(document)).toEqual(greatest);
  });

  test('takes a number in the path as an array index', () => {
    const order = compileSort({ 'a.1': 1 });
    expect(order.keyOf({ a: [5, 7] })).toBe(7);
    expect(order.keyOf({ a: [5, [9, 8]] })).toEqual([9, 8]);
    expect(order.keyOf({ a: [5, []] })).toEqual([]);
    expect(order.keyOf({ a: { 1: 3 } })).toBe(3);
    expect(order.keyOf({ a: [5] })).toBe(null);
  });

  test('compares an array at an array index as a whole', () => {
    expect(values({ 'a.0': 1 }, [[19, 3]], [[10, 15]], [[10, 2, 1]])).toEqual([
      [[10, 2, 1]],
      [[10, 15]],
      [[19, 3]],
    ]);
    expect(values({ 'a.0': -1 }, [[10, 15]], [[19, 3]])).toEqual([[[19, 3]], [[10, 15]]]);
    expect(values({ 'a.0': 1 }, [[1]], ['text'], [[]], [5])).toEqual([[5], ['text'], [[]], [[1]]]);
  });

  test('takes several fields of one array from one item together', () => {
    const far = [
      { x: 0, y: 5 },
      { x: 1, y: 3 },
    ];
    const near = [{ x: 0, y: 4 }];
    expect(values({ 'a.x': 1, 'a.y': 1 }, far, near)).toEqual([near, far]);
    expect(values({ 'a.y': 1, 'a.x': 1 }, near, far)).toEqual([far, near]);
    expect(values({ 'a.x': -1, 'a.y': -1 }, near, far)).toEqual([far, near]);
    expect(compileSort({ 'a.x': 1, 'a.y': -1 }).keyOf({ a: far })).toEqual([0, 5]);
    expect(compileSort({ 'a.x': -1, 'a.y': -1 }).keyOf({ a: far })).toEqual([1, 3]);
  });

  test('takes fields of a nested array from one item of each array', () => {
    const a = [
      {
        x: [
          { p: 2, q: 0 },
          { p: 1, q: 9 },
        ],
        y: 7,
      },
      { x: [{ p: 1, q: 8 }], y: 6 },
    ];
    expect(compileSort({ 'a.x.p': 1, 'a.x.q': 1, 'a.y': 1 }).keyOf({ a })).toEqual([1, 8, 6]);
    expect(compileSort({ 'a.y': -1, 'a.x.p': 1, 'a.x.q': 1 }).keyOf({ a })).toEqual([7, 1, 9]);
  });

  test('takes fields of different arrays from one item of each', () => {
    const { keyOf } = compileSort({ a: 1, b: -1 });
    expect(keyOf({ a: [2, 1], b: [3, 4] })).toEqual([1, 4]);
  });

  test('combines an array index with items of the same array', () => {
    const { keyOf } = compileSort({ 'a.1.x': 1, 'a.y': 1 });
    expect(keyOf({ a: [{ y: 2 }, { x: 5, y: 1 }] })).toEqual([5, 1]);
    expect(compileSort({ 'a.0': 1, 'a.1': -1 }).keyOf({ a: [[4, 2], 3, 1] })).toEqual([[4, 2], 3]);
  });

  test('uses null for fields of an empty array or of scalar items', () => {
    const { keyOf } = compileSort({ 'a.x': 1, 'a.y': 1 });
    expect(keyOf({ a: [] })).toEqual([null, null]);
    expect(keyOf({ a: [1, { x: 2, y: 3 }] })).toEqual([null, null]);
    expect(keyOf({ a: [[{ x: 1, y: 1 }]] })).toEqual([null, null]);
    expect(compileSort({ a: 1, 'a.x': 1 }).keyOf({ a: [] })).toEqual([undefined, null]);
  });

  test('compares several fields, the first one first', () => {
    const documents = [
      { a: 1, b: 1 },
      { a: 2, b: 5 },
      { a: 1, b: 9 },
    ];
    expect(sorted({ a: 1, b: -1 }, documents)).toEqual([
      { a: 1, b: 9 },
      { a: 1, b: 1 },
      { a: 2, b: 5 },
    ]);
  });

  test('exposes its fields and roots', () => {
    const { fields, roots } = compileSort({ 'a.b': 1, c: -1, 'a.d': 1 });
    expect(fields.map(({ path, direction }) => [path, direction])).toEqual([
      ['a.b', 1],
      ['c', -1],
      ['a.d', 1],
    ]);
    expect([...roots]).toEqual(['a', 'c']);
  });

  test('never reaches a prototype', () => {
    expect(compileSort({ constructor: 1 }).keyOf({})).toBe(null);
    expect(compileSort({ 'a.size': 1 }).keyOf({ a: new Map() })).toBe(null);
    expect(compileSort({ 'a.length': 1 }).keyOf({ a: [1, 2] })).toBe(null);
  });

  test.each([
    ['age', 'sort'],
    [undefined, 'sort'],
    [null, 'sort'],
    [['age'], 'sort'],
    [{}, 'sort'],
    [new Map([['age', 1]]), 'sort'],
    [{ age: 2 }, 'sort.age'],
    [{ age: 'asc' }, 'sort.age'],
    [{ age: 1, address: { city: 1 } }, 'sort.address'],
    [{ '': 1 }, 'sort.'],
    [{ 'a..b': 1 }, 'sort.a..b'],
    [JSON.parse('{"__proto__":1}'), 'sort.__proto__'],
    [{ 'a.__proto__.b': 1 }, 'sort.a.__proto__.b'],
  ])('refuses %j', (sort, place) => {
    expect(() => compileSort(sort)).toThrow(CriteriaError);
    expect(() => compileSort(sort)).toThrow(
      expect.objectContaining({ code: 'sort_invalid', place }),
    );
  });
});
