import { expect, test } from 'vitest';
import { sameValue } from '../../../src/codec/same-value.ts';
import { ByteBuffer } from '../../../src/storage/opfs/values/byte-buffer.ts';
import { addValue, readValue } from '../../../src/storage/opfs/values/value-bytes.ts';
import { leaves, valuesOf } from '../../codec/arbitrary-values.ts';
import { fc, runs } from '../../setup/properties.ts';

const arbitraryValue = valuesOf(leaves);

/** The bytes of a value in a buffer that has others already. */
function bytesOf(value: object, before: number): Uint8Array<ArrayBuffer> {
  const buffer = new ByteBuffer();
  buffer.skip(before);
  addValue(buffer, value, new Map());
  return buffer.written.slice(before);
}

test('a value of any size comes back as it was', () => {
  const lists = fc.record({
    bodies: fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.record({ exact: arbitraryValue }))),
    rest: arbitraryValue,
    padding: fc.nat(100_000).map((length) => 'p'.repeat(length)),
  });
  fc.assert(
    fc.property(lists, fc.nat(70_000), (value, before) => {
      const { bodies, rest, padding } = readValue(bytesOf(value, before)) as typeof value;
      expect(sameValue({ bodies, rest, padding }, value)).toBe(true);
    }),
    runs(100),
  );
});

test('a text that makes the buffer grow keeps its length', () => {
  const value = { text: 'x'.repeat(30_000) };
  expect(readValue(bytesOf(value, 0))).toStrictEqual(value);
});
