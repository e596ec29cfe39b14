import { expect, test } from 'vitest';
import { decode, encode } from '../../src/codec/capture.ts';
import { sameValue } from '../../src/codec/same-value.ts';
import { fc } from '../setup/properties.ts';

const value = fc.anything({
  withBigInt: true,
  withDate: true,
  withMap: true,
  withSet: true,
  withTypedArray: true,
  withSparseArray: true,
  withNullPrototype: false,
});

test('a value equals its copy', () => {
  fc.assert(
    fc.property(value, (given) => {
      let body: ReturnType<typeof encode>;
      try {
        body = encode(given, 'value');
      } catch {
        return fc.pre(false);
      }
      expect(sameValue(decode(body), decode(body))).toBe(true);
    }),
  );
});

test.each([
  [0, -0],
  [1, 1n],
  [1, '1'],
  [null, undefined],
  [null, {}],
  [{}, []],
  [[1], { 0: 1 }],
  [
    { a: 1, b: 2 },
    { b: 2, a: 1 },
  ],
  [{ a: undefined }, {}],
  [[undefined], new Array(1)],
  [new Array(1), new Array(2)],
  [{ length: 1 }, { length: 2 }],
  [new Date(1), new Date(2)],
  [new Date(1), {}],
  [{}, new Date(1)],
  [/a/, /a/i],
  [new Map([[1, 2]]), new Map([[1, 3]])],
  [new Map(), new Set()],
  [new Set([1, 2]), new Set([2, 1])],
  [Uint8Array.of(1), Uint8Array.of(2)],
  [Uint8Array.of(1), Int8Array.of(1)],
  [Uint8Array.of(1).buffer, Uint8Array.of(1, 2).buffer],
  [new Blob(['a']), new Blob(['a'])],
])('%s is not %s', (a, b) => {
  expect(sameValue(a, b)).toBe(false);
  expect(sameValue({ in: [a] }, { in: [b] })).toBe(false);
});

test.each([
  [Number.NaN, Number.NaN],
  [new Date(Number.NaN), new Date(Number.NaN)],
  [{ length: { a: 1 } }, { length: { a: 1 } }],
  [new Map([[{ a: 1 }, [1]]]), new Map([[{ a: 1 }, [1]]])],
  [Uint8Array.of(1, 2).subarray(1), Uint8Array.of(2)],
  [/a/gu, /a/gu],
])('%s is %s', (a, b) => {
  expect(sameValue(a, b)).toBe(true);
});
