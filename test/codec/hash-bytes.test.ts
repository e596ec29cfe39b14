import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BytesHash } from '../../src/codec/hash-bytes.ts';

test('bytes in any parts have the hash that others give them', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 6 }), (parts) => {
      const [hash, other] = [new BytesHash(), createHash('sha256')];
      for (const part of parts) {
        hash.add(part);
        other.update(part);
      }
      expect(hash.end()).toBe(other.digest('hex'));
    }),
  );
});

test.each([0, 55, 56, 63, 64, 65, 1_000_000])('%i bytes', (length) => {
  const bytes = new Uint8Array(length).map((_, at) => at);
  expect(new BytesHash().add(bytes).end()).toBe(createHash('sha256').update(bytes).digest('hex'));
});
