import { describe, expect, test } from 'vitest';
import { idGenerator } from '../../src/engine/documents/ids.ts';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz';

/** Fills with 0 to 255, over and over. */
function counting(): (bytes: Uint8Array) => void {
  let next = 0;
  return (bytes) => {
    for (let at = 0; at < bytes.length; at++) bytes[at] = next++ % 256;
  };
}

describe('ids', () => {
  test.each([4, 32, 256])(
    'of %i characters use each character of the alphabet equally often',
    (length) => {
      const makeId = idGenerator(counting());
      // Several refills of the random block; 4 × 63 byte values map to every character.
      const text = Array.from({ length: 63 * 64 }, () => makeId(length)).join('');
      expect(text).toHaveLength(63 * 64 * length);
      const counts = new Map<string, number>();
      for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
      expect([...counts.keys()].sort()).toEqual([...ALPHABET].sort());
      const each = [...counts.values()];
      expect(Math.max(...each) / Math.min(...each)).toBeLessThan(1.2);
    },
  );

  test('of several lengths can be generated in turn', () => {
    const makeId = idGenerator((bytes) => void crypto.getRandomValues(bytes));
    const ids = Array.from({ length: 1000 }, (_, n) => makeId(n % 2 ? 16 : 40));
    expect(new Set(ids).size).toBe(1000);
    expect(new Set(ids.map(({ length }) => length))).toEqual(new Set([16, 40]));
  });
});
