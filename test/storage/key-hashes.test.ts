import { expect, test } from 'vitest';
import { hashKeys, repeatedKey } from '../../src/storage/segments/key-hashes.ts';
import { fc, runs } from '../setup/properties.ts';
import { COLLIDING } from './colliding-keys.ts';

const key = fc.constantFrom(...COLLIDING.flat(), 'a', 'b', '', 'longer than four');

test('a key that occurs twice is found, and keys of one hash are told apart', () => {
  for (const pair of COLLIDING) expect(new Set(hashKeys(pair)).size).toBe(1);
  fc.assert(
    fc.property(fc.array(fc.array(key, { maxLength: 4 }), { maxLength: 4 }), (parts) => {
      const keys = parts.flat();
      const first = keys.find((each, index) => keys.indexOf(each) < index);
      expect(repeatedKey(keys, parts.map(hashKeys))).toBe(first);
    }),
    runs(300),
  );
});
