import { describe, expect, test } from 'vitest';
import { someEachTime } from '../../setup/at-night.ts';
import {
  type Bytes,
  gzipped,
  read,
  record,
  refusal,
  section,
  stored,
  unpacked,
  write,
} from './files.ts';

/** Two collections, and each kind of line. */
const sections = [
  section([record(1), { ...record(2, { exact: [new Date(0), Uint8Array.of(7)] }), flags: 3 }], {
    label: 'before the trip',
  }),
  section([{ ...record(3, '"x"'), stamps: [1, 2, 0, 0] }], {
    collection: 'settings',
    type: 'KEY_VALUE_BASED',
    options: {},
  }),
];
const file = await write(sections);
const text = await unpacked(file);
const content = await read(file);

/** Reads a possibly damaged file: it is refused or equals the original. */
async function readOrRefuse(bytes: Bytes, chunk?: number): Promise<string> {
  const code = (await refusal(bytes, chunk)).split(':', 1)[0] as string;
  if (code === 'none') expect(await read(bytes, chunk)).toEqual(content);
  return code;
}

function flipped(bytes: Bytes, bit: number): Bytes {
  const copy = bytes.slice();
  copy[bit >> 3] = (copy[bit >> 3] as number) ^ (1 << (bit & 7));
  return copy;
}

const bitsOf = (bytes: Uint8Array) => Array.from({ length: bytes.length * 8 }, (_, bit) => bit);

test('an uncompressed gzip file is readable', async () => {
  expect(await read(stored(new TextEncoder().encode(text)))).toEqual(content);
});

test('a file truncated anywhere is detected', async () => {
  for (let length = 0; length < file.length; length++) {
    const message = await refusal(file.slice(0, length), 1 + (length % 50));
    expect(message, `${length} bytes`).toContain('file_truncated: The end of the file is missing.');
  }
});

test('content truncated anywhere and compressed again is detected', async () => {
  const bytes = new TextEncoder().encode(text);
  const first = bytes.indexOf(10);
  for (let length = 0; length < bytes.length; length++) {
    const code = (await refusal(stored(bytes.slice(0, length)))).split(':', 1)[0];
    // Without its first line the type of file is unknown.
    expect(code, `${length} bytes`).toBe(length <= first ? 'file_not_cairn' : 'file_truncated');
  }
});

test('a file with any flipped bit is refused or read as the original', async () => {
  const codes = new Set<string>();
  for (const bit of someEachTime(bitsOf(file))) {
    codes.add(await readOrRefuse(flipped(file, bit), 1 + (bit % 400)));
  }
  // No checksum covers time and system in the gzip header.
  expect([...codes].sort()).toEqual(['file_damaged', 'file_not_gzip', 'file_truncated', 'none']);
}, 60_000);

test('content with any flipped bit, compressed again, is refused or read as the original', async () => {
  const bytes = new TextEncoder().encode(text);
  const end = text.lastIndexOf('"version"') * 8;
  for (const bit of someEachTime(bitsOf(bytes))) {
    const code = await readOrRefuse(stored(flipped(bytes, bit)));
    // The version in the last line has no effect.
    if (bit < end) expect(code, `bit ${bit}`).not.toBe('none');
  }
}, 60_000);

describe('changed content, compressed again, is refused', () => {
  const lines = text.split('\n').slice(0, -1);
  const packed = (changed: readonly string[]) => gzipped(`${changed.join('\n')}\n`);
  const without = (at: number) => lines.filter((_, index) => index !== at);

  test('the sample has the expected lines', () => {
    expect(lines.map((line) => Object.keys(JSON.parse(line))[0])).toEqual([
      'format',
      'key',
      'buffer',
      'key',
      'end',
      'format',
      'key',
      'end',
      'format',
    ]);
  });

  test.each([
    [0, 'file_not_cairn'],
    [1, 'file_damaged: The file is damaged in line 4: records are missing or too many: 2, 1'],
    [2, 'file_damaged: The file is damaged in line 3: there is no such binary data'],
    [3, 'file_damaged: The file is damaged in line 4: binary data belongs to nothing'],
    [4, 'file_damaged: The file is damaged in line 5: it is no record'],
    [5, 'file_not_cairn'],
    [6, 'file_damaged: The file is damaged in line 7: records are missing or too many: 1, 0'],
    [7, 'file_damaged: The file is damaged in line 8: it is no record'],
    [8, 'file_truncated'],
  ])('without its line %i', async (at, error) => {
    expect(await refusal(await packed(without(at)))).toContain(error);
  });

  test.each([
    ['a section is missing', [...lines.slice(0, 5), lines[8]], 'there should be 2 collections'],
    ['a section is duplicated', [...lines.slice(0, 5), ...lines], '"users" comes a second time'],
    ['sections are swapped', [...lines.slice(5, 8), ...lines.slice(0, 5)], 'is missing'],
    ['a record is duplicated', [lines[0], ...lines.slice(1, 2), ...lines.slice(1)], '2, 3'],
    ['records are swapped', [lines[0], ...lines.slice(2, 4), lines[1]], 'is missing'],
    ['a header is inside of a section', lines.toSpliced(1, 0, lines[5]!), 'it is no record'],
    ['content follows the end', [...lines, lines[8]], 'something follows the last line'],
    ['a blank line', lines.toSpliced(3, 0, ''), 'line 4'],
    ['a blank line at the end', [...lines, ''], 'something follows the last line'],
    ['line ends of Windows', lines.map((line) => `${line}\r`), 'the checksum is wrong'],
    ['spaces', lines.map((line) => line.replace(':', ' : ')), 'the checksum is wrong'],
    ['a byte order mark', [`\ufeff${lines[0]}`, ...lines.slice(1)], 'file_not_cairn'],
  ])('%s', async (_, changed, error) => {
    expect(await refusal(await packed(changed as string[]))).toContain(error);
  });

  test('swapped records are refused', async () => {
    const swapped = [lines[0]!, ...lines.slice(2, 4), lines[1]!, ...lines.slice(4)];
    expect(await refusal(await packed(swapped))).toContain('line 5: the checksum is wrong');
  });
});

test('bytes after the gzip are refused or ignored', async () => {
  const junk = new TextEncoder().encode('junk');
  for (const rest of [junk, file, Uint8Array.of(0), file.slice(0, 9)]) {
    const bytes = new Uint8Array([...file, ...rest]);
    for (const chunk of [bytes.length, file.length]) await readOrRefuse(bytes, chunk);
  }
});

test.each([
  ['nothing', new Uint8Array(), 'file_truncated'],
  ['text', new TextEncoder().encode('{"format":"cairn-backup"}\n'), 'file_not_gzip'],
  ['zip', Uint8Array.of(0x50, 0x4b, 3, 4), 'file_not_gzip'],
  ['gzip by another method', Uint8Array.of(0x1f, 0x8b, 7, 0), 'file_not_gzip'],
])('%s is no gzip file', async (_, bytes, error) => {
  expect(await refusal(bytes)).toContain(`${error}: `);
});

test.each([
  ['nothing', ''],
  ['no line', '{"format":"cairn-backup"}'],
  ['another text', 'once upon a time\nthere was a file\n'],
  ['JSON of others', '{"name":"cairn-backup","docs":[]}\n'],
  ['JSON that is no object', '[{"format":"cairn-backup"}]\n'],
  ['null', 'null\n'],
  ['bytes', Uint8Array.of(0xff, 0xfe, 10, 0xc0, 10)],
  ['an endless line', 'x'.repeat(40 * 2 ** 20)],
])('gzip of %s is no file of cairndb', async (_, inside) => {
  expect(await refusal(await gzipped(inside))).toContain('file_not_cairn: ');
});

test('a source of strings is file_not_gzip', async () => {
  const given = (async function* () {
    yield 'text';
  })();
  const parts = (await import('../../../src/backup/file/read-file.ts')).readFile(given as never);
  await expect(parts.next()).rejects.toMatchObject({ code: 'file_not_gzip' });
});
