import { expect, test } from 'vitest';
import { ValueError } from '../../../src/errors/errors.ts';
import { compareValues, equalValues } from '../../../src/query/value/compare-values.ts';

const ascending: unknown[] = [
  undefined,
  null,
  Number.NaN,
  Number.NEGATIVE_INFINITY,
  -1,
  0,
  1n,
  1.5,
  2 ** 53,
  2n ** 53n + 1n,
  Number.POSITIVE_INFINITY,
  '',
  'B',
  'a',
  'ab',
  'b',
  {},
  { a: 1 },
  { a: 2 },
  { a: 2, b: 0 },
  { b: 1 },
  { a: 'x' },
  new Map(),
  new Map([['a', 1]]),
  new Map([['a', 2]]),
  new Set(),
  new Set([1]),
  new Set([1, 2]),
  [],
  [1],
  [1, 2],
  [2],
  ['a'],
  new Uint8Array([9]),
  new ArrayBuffer(2),
  new Uint8Array([1, 2]),
  new Uint8Array([1, 3]),
  new Blob(['x']),
  new Blob(['xy']),
  false,
  true,
  new Date(Number.NaN),
  new Date(-1),
  new Date(1),
  /a/,
  /a/i,
  /b/,
];

test('values of all kinds have a total order', () => {
  for (const [i, a] of ascending.entries()) {
    for (const [j, b] of ascending.entries()) {
      expect([i, j, Math.sign(compareValues(a, b))]).toEqual([i, j, Math.sign(i - j)]);
      expect(equalValues(a, b)).toBe(i === j);
    }
  }
});

test('equal values of different identity are equal', () => {
  for (const value of ascending.filter((value) => !(value instanceof Blob))) {
    expect(equalValues(value, structuredClone(value))).toBe(true);
  }
  expect(equalValues(-0, 0)).toBe(true);
  expect(equalValues(1, 1n)).toBe(true);
});

test('Blobs are equal only to themselves and still have an order', () => {
  const [a, b] = [new Blob(['x']), new Blob(['y'])];
  expect(equalValues(a, b)).toBe(false);
  expect(equalValues({ a }, { a })).toBe(true);
  expect(Math.sign(compareValues(a, b))).toBe(-Math.sign(compareValues(b, a)));
});

test('values nested deeper than storage accepts are a typed error', () => {
  const nested = (levels: number): unknown[] => {
    let value: unknown[] = [];
    for (let level = 0; level < levels; level++) value = [value];
    return value;
  };
  expect(equalValues(nested(500), nested(500))).toBe(true);
  expect(() => compareValues(nested(100_000), nested(100_000))).toThrow(ValueError);
});
