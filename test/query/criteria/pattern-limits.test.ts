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

const { raw: r } = String;

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

test.each(places)('what is syntax in PCRE alone is refused at %s', (place, criteria) => {
  // Texts: in a literal, formatters leave out what JavaScript does not need.
  const foreign = [
    ...[r`\Aab`, r`ab\Z`, r`ab\z`, r`\Q.\E`, r`\h`, r`\R`, r`a\Kb`, r`\x{41}`, r`\o{101}`, r`\\\A`],
    ...[r`[[:alpha:]]`, r`[^[:^space:]_]`, r`\p{L}`, r`\P{Lu}`, r`\pL`, r`\u{41}`],
  ].map((source) => new RegExp(source));
  for (const each of foreign) {
    expect(() => compileCriteria(criteria(each)), String(each)).toThrow(
      expect.objectContaining({ name: 'CriteriaError', code: 'operand_invalid', place }),
    );
  }
  expect(() => compileCriteria(criteria(new RegExp(r`\Ab`)))).toThrow(/"\\A" is PCRE's/);
});

test('what both know, and what the flag u allows, is accepted', () => {
  const common = [
    ...[r`\\A`, r`\\p{1}`, r`[:;]`, r`[a:]`, r`::`, r`\bA\B`, r`\d\D\s\S\w\W`, r`\x41\u0041\cA\0`],
    ...[r`(?<a>b)\k<a>`, r`\n\r\t\v\f`, r`\.\-\/`, r`p{2}`, r`[[:]`],
  ].map((source) => new RegExp(source));
  common.push(/\p{L}/u, /\u{41}/u, /\p{L}/v);
  for (const each of common) {
    expect(() => compileCriteria({ a: each }), String(each)).not.toThrow();
    expect(() => compileCriteria({ a: { $regex: each } }), String(each)).not.toThrow();
  }
  expect(compileCriteria({ a: /^\p{L}$/u }).test({ a: 'é' })).toBe(true);
});

test('the limits apply to items of arrays', () => {
  expect(() => compileItemCriteria(tooLong)).toThrow(
    expect.objectContaining({ code: 'pattern_too_long', place: 'criteria' }),
  );
  const matches = compileItemCriteria({ text: deep });
  expect(() => matches({ text: long })).toThrow(
    expect.objectContaining({ code: 'subject_too_long', place: 'text' }),
  );
});
