import { expect, test } from 'vitest';
import { STORE_NAMES, type StorageKey } from '../../src/storage/drivers/driver.ts';
import { compareKeys, isKeyBelow } from '../../src/storage/drivers/key-order.ts';
import { decodeKey, encodeKey, rangeOf } from '../../src/storage/native/key-bytes.ts';
import { strings } from '../codec/arbitrary-values.ts';
import { fc, runs } from '../setup/properties.ts';

const part = fc.oneof(
  fc.double({ noNaN: true }),
  fc.integer(),
  fc.constantFrom(0, -0, 1, -1, Number.MIN_VALUE, -Number.MIN_VALUE, 2 ** 53),
  strings,
  fc.constantFrom(
    '',
    '\0',
    '\0\0',
    '\u0001',
    '\u0002',
    'a',
    'a\0',
    'a\u0001',
    'é',
    '\uFFFD',
    '\u{1F600}',
  ),
);
const keys: fc.Arbitrary<StorageKey> = fc.array(part, { maxLength: 4 });

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const at = a.findIndex((byte, index) => byte !== b[index]);
  if (at < 0) return Math.sign(a.length - b.length);
  return at < b.length && (a[at] as number) < (b[at] as number) ? -1 : 1;
}

test('bytes sort as keys do', () => {
  fc.assert(
    fc.property(keys, keys, (a, b) => {
      const order = compareBytes(encodeKey('segments', a), encodeKey('segments', b));
      expect(order).toBe(Math.sign(compareKeys(a, b)));
    }),
    runs(2000),
  );
});

test('a key comes back from its bytes', () => {
  fc.assert(
    fc.property(fc.constantFrom(...STORE_NAMES), keys, (store, key) => {
      // 0 and -0 are one key.
      const expected = key.map((each) => (each === 0 ? 0 : each));
      expect(decodeKey(encodeKey(store, key))).toEqual(expected);
    }),
    runs(500),
  );
});

test('the range of a prefix has its keys and no others', () => {
  const pairs = fc.oneof(
    fc.tuple(keys, keys),
    fc.tuple(keys, keys).map(([prefix, rest]) => [prefix, [...prefix, ...rest]] as const),
  );
  fc.assert(
    fc.property(pairs, ([prefix, key]) => {
      const { gte, lt } = rangeOf('bodies', prefix);
      const bytes = encodeKey('bodies', key);
      const isIn = compareBytes(gte, bytes) <= 0 && compareBytes(bytes, lt) < 0;
      expect(isIn).toBe(key.length >= prefix.length && isKeyBelow(key, prefix));
      expect(compareBytes(encodeKey('segments', key), gte)).toBe(-1);
    }),
    runs(2000),
  );
});
