import { describe, expect, test } from 'vitest';
import { hashText } from '../../src/codec/hash-text.ts';
import { bodyChecks, intactBodies } from '../../src/storage/integrity/body-checks.ts';
import { byteChecksum, checksumOf } from '../../src/storage/integrity/checksum.ts';
import { isIntact, seal } from '../../src/storage/integrity/seal.ts';
import { fc, runs } from '../setup/properties.ts';

test('a text and the same with one other character differ', () => {
  const texts = fc.tuple(
    fc.string({ minLength: 1 }),
    fc.nat(),
    fc.integer({ min: 1, max: 0xffff }),
  );
  fc.assert(
    fc.property(texts, ([text, where, change]) => {
      const at = where % text.length;
      const other = String.fromCharCode(text.charCodeAt(at) ^ change);
      expect(hashText(text.slice(0, at) + other + text.slice(at + 1))).not.toBe(hashText(text));
    }),
    runs(1000),
  );
});

test('texts and bytes that are short, or zeros of other lengths, differ', () => {
  const bytes = Array.from({ length: 40 }, (_, length) => new Uint8Array(length));
  const ones = Array.from({ length: 200 }, (_, value) => Uint8Array.of(value + 1));
  expect(new Set([...bytes, ...ones].map(byteChecksum)).size).toBe(240);
  const texts = [...bytes, ...ones].map((codes) => String.fromCharCode(...codes));
  expect(new Set(texts.map(hashText)).size).toBe(240);
});

const sparse: number[] = [1];
sparse[4_000_000_000] = 2;

describe('values', () => {
  test.each([
    ['numbers', 1, 2],
    ['zeros', 0, -0],
    ['a number and its text', 1, '1'],
    ['nothing', null, undefined],
    ['dates', new Date(1), new Date(2)],
    ['maps', new Map([[1, 2]]), new Map([[1, 3]])],
    ['a set and a map', new Set([1]), new Map([[1, 1]])],
    ['a list and a typed array', [1], Uint8Array.of(1)],
    ['typed arrays of the same bytes', Uint8Array.of(1), Int8Array.of(1)],
    ['orders of fields', { a: 1, b: 2 }, { b: 2, a: 1 }],
    ['a field without a value', {}, { a: undefined }],
    ['arrays with holes', sparse, [1]],
    ['patterns', /a/g, /a/],
    ['big numbers', 1n, 2n],
    ['sizes of Blobs', new Blob(['a']), new Blob(['ab'])],
  ])('%s differ', (_, one, other) => {
    expect(checksumOf(one)).toBe(checksumOf(one));
    expect(checksumOf(one)).not.toBe(checksumOf(other));
  });

  test('structured clone keeps the checksum', () => {
    fc.assert(
      fc.property(fc.anything({ withDate: true, withMap: true, withTypedArray: true }), (value) => {
        expect(checksumOf(structuredClone(value))).toBe(checksumOf(value));
      }),
      runs(300),
    );
  });
});

test('a sealed value is intact under its key alone, in any order of its fields', () => {
  const sealed = seal(['a', 1], { number: 1, keys: ['x'] });
  const { checksum, keys, number } = sealed;
  expect(isIntact(['a', 1], { checksum, keys, number })).toBe(true);
  expect(isIntact(['a', 2], sealed)).toBe(false);
  expect(isIntact(['b', 1], sealed)).toBe(false);
  expect(isIntact(['a', 1], { ...sealed, keys: ['y'] })).toBe(false);
  for (const value of [undefined, null, 7, 'text', {}])
    expect(isIntact(['a', 1], value as object)).toBe(false);
});

test('damaged documents are told from whole ones', () => {
  const bodies = ['{"a":1}', '{"a":2}', { exact: new Date(3) }];
  const checks = bodyChecks(bodies);
  expect(intactBodies(bodies, checks)).toBe(bodies);
  const [first, , third] = bodies;
  expect(intactBodies([first, '{"a":3}', third], checks)).toEqual([first, undefined, third]);
  expect(intactBodies([first], checks)).toEqual([first, undefined, undefined]);
  expect(intactBodies([7, null, {}], checks)).toEqual([undefined, undefined, undefined]);
  expect(intactBodies(undefined, checks)).toBeUndefined();
});
