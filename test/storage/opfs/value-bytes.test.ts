import { expect, test } from 'vitest';
import { ByteBuffer } from '../../../src/storage/opfs/values/byte-buffer.ts';
import { addValue, readValue } from '../../../src/storage/opfs/values/value-bytes.ts';

test('a value is whole wherever the buffer grows', () => {
  for (const length of [0, 20_000, 21_843, 21_850, 30_000, 65_520, 65_530, 65_540, 200_000]) {
    const value = {
      items: ['a', { exact: 'é'.repeat(length) }, 'b'],
      rest: { text: 'x'.repeat(length), none: undefined },
    };
    const buffer = new ByteBuffer();
    addValue(buffer, value, new Map());
    expect(readValue(buffer.written.slice())).toEqual(value);
  }
});
