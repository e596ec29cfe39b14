import { expect, test } from 'vitest';
import {
  compileCriteria,
  compileItemCriteria,
} from '../../../src/query/criteria/compile-criteria.ts';

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

test.each(places)(
  'a string of over 1,000,000 characters fails the query at %s',
  (place, criteria) => {
    const { test: matches } = compileCriteria(criteria(/x$/));
    const documentOf = (text: string) => ({ a: place === 'a.b' ? { b: text } : ['y', text] });
    expect(() => matches(documentOf('a'.repeat(1_000_000)))).not.toThrow();
    expect(() => matches(documentOf('a'.repeat(1_000_001)))).toThrow(
      expect.objectContaining({ name: 'CriteriaError', code: 'subject_too_long', place }),
    );
  },
);

test('both limits apply to items of arrays', () => {
  expect(() => compileItemCriteria(tooLong)).toThrow(
    expect.objectContaining({ code: 'pattern_too_long', place: 'criteria' }),
  );
  const matches = compileItemCriteria({ text: /x/ });
  expect(() => matches({ text: 'a'.repeat(1_000_001) })).toThrow(
    expect.objectContaining({ code: 'subject_too_long', place: 'text' }),
  );
});
