import { expect, test } from 'vitest';
import { TopN } from '../../../src/query/sort/top-n.ts';
import { fc } from '../../setup/properties.ts';

const ascending = (a: number, b: number) => a - b;

test('a heap keeps the least n items of any input order', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer()), fc.nat(12), (numbers, limit) => {
      const top = new TopN(limit, ascending);
      for (const number of numbers) top.add(number);
      expect(top.sorted()).toEqual(numbers.toSorted(ascending).slice(0, limit));
    }),
  );
});

test('a heap exposes the item that a better one replaces', () => {
  const top = new TopN(2, ascending);
  top.add(5);
  expect(top.worst).toBeUndefined();
  top.add(9);
  expect(top.worst).toBe(9);
  top.add(1);
  expect(top.worst).toBe(5);
  top.add(7);
  expect(top.sorted()).toEqual([1, 5]);
});

test('a heap without a limit keeps everything', () => {
  const top = new TopN(Number.POSITIVE_INFINITY, ascending);
  for (const number of [3, 1, 2]) top.add(number);
  expect(top.worst).toBeUndefined();
  expect(top.sorted()).toEqual([1, 2, 3]);
});
