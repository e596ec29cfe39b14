import { expect, test } from 'vitest';
import { CriteriaError } from '../../../src/errors/errors.ts';
import { compileItemCriteria } from '../../../src/query/criteria/item-criteria.ts';
import '../../setup/rare-operators.ts';

const items = [1, 5, 'x', null, undefined, [1, 5], { a: 1 }, { a: 5, b: [1] }, new Date(0)];
const found = (criteria: unknown): unknown[] => items.filter(compileItemCriteria(criteria));

test('a plain value matches equal items', () => {
  expect(found(1)).toEqual([1]);
  expect(found('x')).toEqual(['x']);
  expect(found([1, 5])).toEqual([[1, 5]]);
  expect(found(null)).toEqual([null]);
  expect(found(undefined)).toEqual([undefined]);
  expect(found(new Date(0))).toEqual([new Date(0)]);
});

test('operators compare the item itself', () => {
  expect(found({ $gt: 1 })).toEqual([5]);
  expect(found({ $in: [1, /x/] })).toEqual([1, 'x']);
  expect(found({ $type: 'array' })).toEqual([[1, 5]]);
});

test('field criteria match inside objects, with array indexes as fields', () => {
  expect(found({ a: { $gte: 1 } })).toEqual([{ a: 1 }, { a: 5, b: [1] }]);
  expect(found({ a: 5, b: 1 })).toEqual([{ a: 5, b: [1] }]);
  expect(found({ $or: [{ a: 1 }, { 1: 5 }] })).toEqual([[1, 5], { a: 1 }]);
});

test('empty criteria match every object and array', () => {
  expect(found({})).toEqual([[1, 5], { a: 1 }, { a: 5, b: [1] }]);
});

test('a RegExp matches strings', () => {
  expect(found(/^x/)).toEqual(['x']);
});

test('invalid criteria are refused with their place', () => {
  expect(() => compileItemCriteria({ a: { $gtt: 1 } })).toThrow(CriteriaError);
  expect(() => compileItemCriteria({ a: { $gtt: 1 } })).toThrow("'a.$gtt'");
});
