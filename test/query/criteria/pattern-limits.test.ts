import { expect, test } from 'vitest';
import '../../setup/rare-operators.ts';
import { compileCriteria } from '../../../src/query/criteria/compile-criteria.ts';
import { compileItemCriteria } from '../../../src/query/criteria/item-criteria.ts';

const longest = 'a'.repeat(1000);
const tooLong = new RegExp(`${longest}a`);

const places: readonly (readonly [place: string, criteria: (pattern: RegExp) => object])[] = [
  ['a.b', (pattern) => ({ 'a.b': pattern })],
  ['a.$regex', (pattern) => ({ a: { $regex: pattern } })],
  ['a.$regex', ({ source }) => ({ a: { $regex: source } })],
  ['a.$regex', ({ source }) => ({ a: { $options: 'i', $regex: source } })],
  ['a.$regex', (pattern) => ({ a: { $options: 'i', $regex: pattern } })],
  ['a.$in[1]', (pattern) => ({ a: { $in: ['x', pattern] } })],
  ['a.$nin[0]', (pattern) => ({ a: { $nin: [pattern] } })],
  ['a.$all[1]', (pattern) => ({ a: { $all: ['y', pattern] } })],
  ['a.$not', (pattern) => ({ a: { $not: pattern } })],
  ['a.$elemMatch.$regex', (pattern) => ({ a: { $elemMatch: { $regex: pattern } } })],
  ['$or[1].a', (pattern) => ({ $or: [{ b: 1 }, { a: pattern }] })],
];

test.each(places)('a pattern of over 1,000 characters is refused at %s', (place, criteria) => {
  expect(() => compileCriteria(criteria(tooLong))).toThrow(
    expect.objectContaining({ name: 'CriteriaError', code: 'pattern_too_long', place }),
  );
  expect(() => compileCriteria(criteria(new RegExp(longest)))).not.toThrow();
});

/** V8 runs out of stack for it on 10,000,000 characters. */
const deep = /^(?:a|b)*$/;
const long = 'a'.repeat(10_000_000);

test.each(places)(
  'a string on which JavaScript gives up fails the query at %s',
  (place, criteria) => {
    const documentOf = (text: string) => ({ a: place === 'a.b' ? { b: text } : ['y', text] });
    expect(() => compileCriteria(criteria(deep)).test(documentOf(long))).toThrow(
      expect.objectContaining({ name: 'CriteriaError', code: 'subject_too_long', place }),
    );
    expect(() => compileCriteria(criteria(/a$/)).test(documentOf(long))).not.toThrow();
  },
);

test('the limits apply to items of arrays', () => {
  expect(() => compileItemCriteria(tooLong)).toThrow(
    expect.objectContaining({ code: 'pattern_too_long', place: 'criteria' }),
  );
  const matches = compileItemCriteria({ text: deep });
  expect(() => matches({ text: long })).toThrow(
    expect.objectContaining({ code: 'subject_too_long', place: 'text' }),
  );
});
