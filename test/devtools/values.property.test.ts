import { describe, expect, test } from 'vitest';
import { parseObject, parseValue } from '../../src/devtools/values/parse-value.ts';
import { printShort, printValue } from '../../src/devtools/values/print-value.ts';
import { leaves, valuesOf } from '../codec/arbitrary-values.ts';
import { fc, runs } from '../setup/properties.ts';

test('a printed value is read back as it was, of every kind that can be stored', () => {
  const readBack = fc.property(valuesOf(leaves), (value) => {
    const { text, kept } = printValue(value);
    expect(parseValue(text, kept)).toEqual(value);
    printShort(value);
  });
  fc.assert(readBack, runs(500));
});

test('kinds beyond JSON are named, and text that cannot hold a value keeps it', async () => {
  const photo = new Blob(['x'], { type: 'image/png' });
  const bytes = new Uint8Array(1000);
  const { text, kept, kinds } = printValue({ photo, bytes, at: new Date(0), n: 10n });
  expect(kinds).toEqual(['Blob', 'Date', 'Uint8Array', 'bigint']);
  expect(text).toContain('photo: $1 /* Blob, 1 bytes, image/png */');
  const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, true, ['encrypt']);
  expect(printValue({ key })).toEqual({
    ...{ text: expect.stringContaining('$1 /* CryptoKey */'), kept: [key], kinds: ['CryptoKey'] },
  });
  const read = parseValue(text, kept) as { photo: unknown; bytes: unknown };
  expect(read.photo).toBe(photo);
  expect(read.bytes).toBe(bytes);
});

test('literals that people write are read', () => {
  const text = `{
    // who
    name: 'Ada', "last name": "L\\u00f8v", tags: ['a', "b",], age: +36, big: -10n, hex: 0xff,
    born: new Date('2026-01-31T12:00:00Z'), like: /^Os[/]\\//i, $gt: .5, 7: null, /* none */
  }`;
  expect(parseValue(text)).toEqual({
    ...{ name: 'Ada', 'last name': 'Løv', tags: ['a', 'b'], age: 36, big: -10n, hex: 255 },
    ...{ born: new Date('2026-01-31T12:00:00Z'), like: /^Os[/]\//i, $gt: 0.5, 7: null },
  });
  expect(parseObject('  ')).toEqual({});
});

test.each([
  ['{ a: 1', 'Line 1, column 7: "," is missing, the text ends.'],
  ['{\n  a: Oslo }', 'Line 2, column 6: "Oslo" is no value.'],
  ['{ a: 1, a: 2 }', '"a" is given twice'],
  ['{ __proto__: {} }', '"__proto__" cannot be stored'],
  ['{ a: Date("soon") }', 'This is no date'],
  ['{ a: alert(1) }', 'There is no kind "alert"'],
  ['{ a: /(/ }', 'Invalid regular expression'],
  ['{ a: $3 }', '"$3" stands for no value'],
  ['{ a: 1.2.3 }', 'This is no number'],
  ['{ a: "x }', 'The string has no end'],
  ['1 2', 'The value ends before "2"'],
  ['', 'The text ends where a value is expected'],
  ['[1 2]', '"," is missing, there is "2"'],
])('%s is refused with the place', (text, message) => {
  expect(() => parseValue(text)).toThrow(message);
});

test('criteria must be an object', () => {
  expect(() => parseObject('[1]')).toThrow('Write an object');
});

test('any other text is refused with its place', () => {
  const parts = fc.constantFrom(
    '{',
    '}',
    '[',
    ',',
    ':',
    '"',
    '/',
    '\\',
    '$1',
    'Map(',
    'a',
    '1',
    ')',
  );
  const texts = fc.oneof(
    fc.string(),
    fc.array(parts).map((list) => list.join('')),
  );
  const refused = fc.property(texts, (text) => {
    try {
      parseValue(text);
    } catch (error) {
      expect((error as Error).name).toBe('TextError');
    }
  });
  fc.assert(refused, runs(500));
});

describe('a line', () => {
  test.each([
    ['a text of spaces', ' '.repeat(2_000_000)],
    ['a text of spaces in an object', { text: ' '.repeat(2_000_000) }],
    ['a long list', Array.from({ length: 3_000_000 }, (_, n) => n)],
    ['lists of lists', Array.from({ length: 3000 }, () => Array.from({ length: 3000 }, () => [1]))],
    ['a Map', new Map(Array.from({ length: 500_000 }, (_, n) => [n, n]))],
  ])('shows the beginning of %s, and looks at no more', (_, value) => {
    // The time of a test is over before all of it is read.
    for (let cell = 0; cell < 600; cell++) expect(printShort(value, 60).length).toBeLessThan(61);
  });

  test('shows values as they are up to its end', () => {
    // biome-ignore lint/suspicious/noSparseArray: the hole is under test
    expect(printShort({ a: [1, , 'x'], m: new Map([[1, { b: 2 }]]), s: new Set([null]) })).toBe(
      '{ a: [1, , "x"], m: Map([[1, { b: 2 }]]), s: Set([null]) }',
    );
    expect(printShort('a\n\n  b')).toBe('a b');
    expect(printShort([1, 2, 3, 4], 8)).toBe('[1, 2, …');
  });
});
