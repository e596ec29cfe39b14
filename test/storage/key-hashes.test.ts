import { expect, test } from 'vitest';
import { hashKeys, repeatedKey } from '../../src/storage/segments/key-hashes.ts';
import { fc, runs } from '../setup/properties.ts';

/** Two pairs of keys with the same hash, and others. */
const key = fc.constantFrom('uksfy', 'ouodm', 'ukwzw', 'dkxan', 'a', 'b', '', 'longer than four');

test('a key that occurs twice is found, and keys of one hash are told apart', () => {
  expect(new Set(hashKeys(['uksfy', 'ouodm'])).size).toBe(1);
  expect(new Set(hashKeys(['ukwzw', 'dkxan'])).size).toBe(1);
  fc.assert(
    fc.property(fc.array(fc.array(key, { maxLength: 4 }), { maxLength: 4 }), (parts) => {
      const keys = parts.flat();
      const first = keys.find((each, index) => keys.indexOf(each) < index);
      expect(repeatedKey(keys, parts.map(hashKeys))).toBe(first);
    }),
    runs(300),
  );
});
