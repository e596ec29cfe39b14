import { describe, expect, test } from 'vitest';
import { CriteriaError } from '../../../src/errors/criteria-error.ts';
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

describe('an order', () => {
  test('has one place for every type', () => {
    const mixed = [true, 'b', 2, null, new Date(0), 'a', Number.NaN, 1n, { x: 1 }, false, 1.5];
    expect(values({ a: 1 }, ...mixed)).toEqual([
      ...[null, Number.NaN, 1n, 1.5, 2, 'a', 'b', { x: 1 }, false, true, new Date(0)],
    ]);
  });

  test('sorts missing and undefined like null, and keeps ties', () => {
    const documents = [{ n: 1, a: 0 }, { n: 2, a: null }, { n: 3 }, { n: 4, a: undefined }];
    expect(sorted({ a: 1 }, documents)).toEqual([...documents.slice(1), documents[0]]);
    expect(sorted({ a: -1 }, documents)).toEqual(documents);
  });

  test('counts the least item of an array ascending and the greatest descending', () => {
    expect(values({ a: 1 }, 4, [3, 9], [5, 1], 2)).toEqual([[5, 1], 2, [3, 9], 4]);
    expect(values({ a: -1 }, 4, [3, 9], [5, 1], 2)).toEqual([[3, 9], [5, 1], 4, 2]);
  });

  test('puts an empty array before null, and takes one level of items apart', () => {
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

  test('takes a number in the path for a position', () => {
    const order = compileSort({ 'a.1': 1 });
    expect(order.keyOf({ a: [5, 7] })).toBe(7);
    expect(order.keyOf({ a: [5, [9, 8]] })).toBe(8);
    expect(order.keyOf({ a: { 1: 3 } })).toBe(3);
    expect(order.keyOf({ a: [5] })).toBe(null);
  });

  test('goes by several fields, the first one counting most', () => {
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

  test('tells its fields and roots', () => {
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
