import { expect, test } from 'vitest';
import { packBytes, unpackBytes } from '../../src/storage/encryption/page-records.ts';
import { fc, runs } from '../setup/properties.ts';

test('bytes come back from text, which has characters that every storage keeps', () => {
  const property = fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
    const text = packBytes(bytes);
    expect(text).toMatch(/^[\u4000-\ubfff]*$/);
    expect(text.length).toBeLessThanOrEqual(Math.ceil((bytes.length * 8) / 15) + 1);
    expect(unpackBytes(text)).toEqual(bytes);
  });
  fc.assert(property, runs(500));
});

test('a million bytes come back', () => {
  const bytes = new Uint8Array(1_000_000).map((_, at) => at % 253);
  expect(unpackBytes(packBytes(bytes)).join()).toBe(bytes.join());
});
