import { expect, test } from 'vitest';
import { sameContent } from '../../src/replication/merge-fields.ts';

test('holes differ from values', () => {
  const sparse = new Array(2);
  sparse[1] = 1;
  expect(sameContent(sparse, [5, 1])).toBe(false);
  expect(sameContent([5, 1], sparse)).toBe(false);
  expect(sameContent(sparse, [undefined, 1])).toBe(false);
  expect(sameContent(sparse, structuredClone(sparse))).toBe(true);
});

test('the longest array without items is compared at once', () => {
  const [a, b] = [new Array(2 ** 32 - 1), new Array(2 ** 32 - 1)];
  expect(sameContent(a, b)).toBe(true);
});
