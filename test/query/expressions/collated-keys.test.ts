import { describe, expect, test } from 'vitest';
import { keysIn } from '../../../src/query/expressions/collated-keys.ts';
import { collatorOf } from '../../../src/query/value/collators.ts';
import { fc, runs } from '../../setup/properties.ts';

/** Groups that a sort by the collator finds, as the least string of each, by string. */
function sortedGroups(strings: readonly string[], collation: string): Map<string, string> {
  const { compare } = collatorOf(collation);
  const sorted = strings.toSorted((a, b) => compare(a, b) || (a < b ? -1 : 1));
  const groups = new Map<string, string>();
  let first = sorted[0] ?? '';
  for (const text of sorted) {
    if (compare(first, text) !== 0) first = text;
    groups.set(text, first);
  }
  return groups;
}

function expectGroups(strings: readonly string[], collation: string): void {
  const groups = sortedGroups(strings, collation);
  const keyOf = keysIn(collation);
  const keys = new Map<unknown, string>();
  for (const text of strings) {
    const key = keyOf(text);
    const group = groups.get(text) as string;
    expect(keys.get(key) ?? group, `${text} in ${collation}`).toBe(group);
    keys.set(key, group);
  }
  expect(keys.size).toBe(new Set(groups.values()).size);
}

const LANGUAGES = 'de en es fi fr id it ja ko ms nl pl pt ru sv uk zh cs da hu lt th tr'.split(' ');
const ASCII = Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at));
const LETTERS = ASCII.filter((one) => /[a-z]/.test(one));

describe('strings are equal by their keys as by the collator, all short ones of ASCII', () => {
  test.for(LANGUAGES)('in %s', (language) => {
    const pairs = ASCII.flatMap((one) => ASCII.map((other) => one + other));
    const triples = LETTERS.flatMap((a) => LETTERS.flatMap((b) => LETTERS.map((c) => a + b + c)));
    expectGroups([...ASCII, ...pairs, ...triples], `${language} 2`);
  });
});

const units = [
  'a',
  'A',
  'b',
  's',
  'ss',
  'ß',
  'cs',
  'ccs',
  'é',
  'e\u0301',
  'E',
  'e',
  'å',
  'aa',
  'ﬁ',
];
const others = [
  'fi',
  '0',
  '00',
  '1',
  '10',
  '１',
  '١',
  ' ',
  '-',
  '\u200b',
  '\0',
  'Ａ',
  '½',
  'æ',
  'ae',
];
const text = fc
  .array(fc.constantFrom(...units, ...others), { maxLength: 6 })
  .map((parts) => parts.join(''));
const collation = fc
  .tuple(
    fc.constantFrom(...LANGUAGES, 'de-u-co-phonebk'),
    fc.constantFrom(1, 2, 3),
    fc.constantFrom('', ' numeric', ' upper'),
  )
  .map(([language, strength, more]) => `${language} ${strength}${more}`);

test('strings are equal by their keys as by the collator, in any order', () => {
  const strings = fc.uniqueArray(text, { maxLength: 60 });
  fc.assert(fc.property(strings, collation, expectGroups), runs(2000));
});
