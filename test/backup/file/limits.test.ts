import { expect, test } from 'vitest';
import { type FileRecord, MAX_LINE } from '../../../src/backup/file/file-contents.ts';
import { peek } from '../../../src/codec/body.ts';
import { testAtNight } from '../../setup/at-night.ts';
import { read, record, section, write } from './files.ts';

/** Bytes of the line of `record(1)` without its body. */
const AROUND = '{"key":"key-1","order":1,"flags":0,"body":}\n'.length;

test('a line of the maximum length is written and read, a longer one is refused', async () => {
  const longest = `"${'x'.repeat(MAX_LINE - AROUND - 2)}"`;
  const [back] = await read(await write([section([record(1, longest), record(2)])]));
  expect(back?.records).toHaveLength(2);
  expect(back?.records[0]?.body === longest).toBe(true);
  await expectRefused(`${longest.slice(0, -1)}x"`);
});

test.each<[string, () => FileRecord['body']]>([
  ['JSON', () => `"${'x'.repeat(2 * MAX_LINE)}"`],
  ['JSON with characters of several bytes', () => `"${'é'.repeat(MAX_LINE / 2)}"`],
  ['a string', () => ({ exact: [undefined, 'x'.repeat(MAX_LINE)] })],
  // As JSON this is longer than a string can be.
  ['strings', () => ({ exact: new Array(600).fill('x'.repeat(2 ** 20)) })],
  ['characters that JSON escapes', () => ({ exact: [undefined, '\0'.repeat(MAX_LINE / 5)] })],
  ['keys', () => ({ exact: { ['x'.repeat(MAX_LINE)]: undefined } })],
  ['values', () => ({ exact: new Array(MAX_LINE / 4).fill(null) })],
  ['patterns', () => ({ exact: new Array(40).fill(new RegExp('x'.repeat(2 ** 20))) })],
  ['bigints', () => ({ exact: new Array(140).fill(1n << 1_000_000n) })],
])('a record with too much of %s is refused', async (_, body) => {
  await expectRefused(body());
});

testAtNight?.('binary data may exceed a line', async () => {
  const bytes = new Uint8Array(MAX_LINE + 5);
  for (let at = 0; at < bytes.length; at++) bytes[at] = at >> 7;
  const blob = new Blob([bytes]);
  const [back] = await read(await write([section([record(1, { exact: { bytes, blob } })])]));
  const found = peek(back!.records[0]!.body) as { bytes: Uint8Array; blob: Blob };
  const same = (other: Uint8Array) => {
    // `every()` takes ten seconds in some browsers.
    for (let at = 0; at < bytes.length; at++) if (other[at] !== bytes[at]) return false;
    return other.length === bytes.length;
  };
  expect(same(found.bytes)).toBe(true);
  expect(same(new Uint8Array(await found.blob.arrayBuffer()))).toBe(true);
});

test('a record with over 2 GB of binary data is refused', async () => {
  const part = new Blob([new Uint8Array(2 ** 26)]);
  const blob = new Blob(new Array(33).fill(part));
  await expect(write([section([record(1, { exact: blob })])])).rejects.toMatchObject({
    code: 'record_too_large',
    place: '"key-1" of the collection "users"',
    message: expect.stringContaining('more than 2 GB of binary data'),
  });
});

async function expectRefused(body: FileRecord['body']): Promise<void> {
  await expect(write([section([record(1, body)])])).rejects.toMatchObject({
    code: 'record_too_large',
    place: '"key-1" of the collection "users"',
    message: expect.stringContaining('takes more than 32 MB'),
  });
}
