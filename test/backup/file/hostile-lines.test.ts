import { describe, expect, test } from 'vitest';
import { MAX_LINE } from '../../../src/backup/file/file-contents.ts';
import { peek } from '../../../src/codec/body.ts';
import { testAtNight } from '../../setup/at-night.ts';
import { describeValue } from './describe-value.ts';
import { gzipped, HEADER, read, refusal, sealed } from './files.ts';

const record = (fields: object) =>
  JSON.stringify({ key: 'a', order: 1, flags: 0, body: {}, ...fields });
const exact = (json: string) => `{"key":"a","order":1,"flags":0,"exact":${json}}`;
const bytes = (fields: object) => JSON.stringify({ base64: 'AQID', ...fields });

test('a valid handmade file is readable', async () => {
  const [section] = await read(await sealed([record({ stamps: [1, 0, 2.5, 0] })]));
  expect(section?.header).toEqual({
    collection: 'users',
    type: 'KEY_VALUE_BASED',
    created_at: 0,
    options: {},
    documents: 1,
  });
  expect(section?.records).toEqual([
    { key: 'a', order: 1, flags: 0, stamps: [1, 0, 2.5, 0], body: '{}' },
  ]);
  expect(await read(await sealed([]))).toMatchObject([{ records: [] }]);
});

describe('a header is refused', () => {
  test.each([
    [{ format: 'cairn' }, 'file_not_cairn'],
    [{ format_number: 2, version: '3.1.4' }, 'file_newer: The file was written by cairndb 3.1.4,'],
    [{ format_number: 2, version: 7 }, 'file_newer: The file was written by a later cairndb,'],
    [{ format_number: 2, more: 'unknown' }, 'file_newer'],
    [{ format_number: 0 }, 'file_not_cairn'],
    [{ format_number: 1.5 }, 'file_not_cairn'],
    [{ format_number: '__proto__' }, 'file_not_cairn'],
    [{ version: 1 }, 'file_not_cairn'],
    [{ collection: '' }, '"collection" is empty'],
    [{ collection: 5 }, '"collection" is not a string'],
    [{ type: 'TABLE' }, '"type" is unknown'],
    [{ created_at: -1 }, '"created_at" is not a valid time'],
    [{ created_at: '2026' }, '"created_at" is not a valid time'],
    [{ label: {} }, '"label" is not a string'],
    [{ options: [] }, '"options" is not an object'],
    [{ options: null }, '"options" is not an object'],
    [{ documents: -1 }, '"documents" is not a whole number'],
    [{ documents: 1e300 }, '"documents" is not a whole number'],
    [{ documents: 2 }, 'line 3: records are missing or too many: 1, 2'],
    [{ password: 'x' }, 'unknown field "password"'],
  ])('%j', async (header, error) => {
    expect(await refusal(await sealed([record({})], { header }))).toContain(error);
  });

  test('with __proto__ in it', async () => {
    const line = JSON.stringify({ ...HEADER, documents: 0 });
    for (const wrong of [
      line.replace('"options":{}', '"options":{"__proto__":{"a":1}}'),
      line.replace('{', '{"__proto__":{},'),
    ]) {
      expect(await refusal(await gzipped(`${wrong}\n`))).toContain('file_damaged: ');
    }
    expect(({} as { a?: number }).a).toBeUndefined();
  });
});

test.each([
  [{ end: { documents: 7 } }, 'line 3: records are missing or too many: 7, 1'],
  [{ end: { documents: undefined } }, 'line 3: records are missing or too many: , 1'],
  [{ end: { crc32: '00000000' } }, 'line 3: the checksum is wrong'],
  [{ end: { crc32: undefined } }, 'line 3: the checksum is wrong'],
  [{ end: { end: false } }, 'line 3: it is no record'],
  [{ end: { more: 1 } }, 'line 3: it has an unknown field "more"'],
  [{ last: { sections: 2 } }, 'line 4: there should be 2 collections, not 1'],
  [{ last: { sections: -1 } }, 'line 4: "sections" is not a whole number'],
  [{ last: { format_number: 9 } }, 'file_newer'],
  [{ last: { more: 1 } }, 'line 4: it has an unknown field "more"'],
])('an end is refused: %j', async (wrong, error) => {
  expect(await refusal(await sealed([record({})], wrong))).toContain(error);
});

describe('a record is refused', () => {
  test.each([
    ['no JSON', '{"key":', 'line 2: '],
    ['no object', '["key"]', 'line 2: it is not an object'],
    ['a key that is not a string', record({ key: 1 }), '"key" is not a string'],
    ['an empty key', record({ key: '' }), '"key" is empty'],
    ['order 0', record({ order: 0 }), '"order" is not a whole number from 1'],
    ['order 1.5', record({ order: 1.5 }), '"order" is not a whole number from 1'],
    ['a huge order', record({}).replace('1', '1e400'), '"order" is not a whole number from 1'],
    ['an unsafe order', record({ order: 2 ** 53 }), '"order" is not a whole number from 1'],
    ['flags 4', record({ flags: 4 }), '"flags" are over 3'],
    ['negative flags', record({ flags: -1 }), '"flags" is not a whole number from 0'],
    ['three stamps', record({ stamps: [1, 2, 3] }), '"stamps" are not four times'],
    ['a negative stamp', record({ stamps: [0, 0, 0, -1] }), '"stamps" are not four times'],
    ['a stamp of text', record({ stamps: [0, 0, 0, '1'] }), '"stamps" are not four times'],
    ['stamps null', record({ stamps: null }), '"stamps" is not an array'],
    ['no value', record({ body: undefined }), 'it has no value, or two'],
    ['two values', record({ exact: {} }), 'it has no value, or two'],
    ['another field', record({ _id: 'a' }), 'unknown field "_id"'],
    ['its own __proto__', record({}).replace('{', '{"__proto__":{},'), 'field "__proto__"'],
    ['a __proto__ inside', record({}).replace('{}', '{"a":{"__proto__":{}}}'), 'body.a.__proto__'],
    ['an escaped __proto__', exact('{"a":{"__pr\\u006fto__":1}}'), 'body.a.__proto__'],
    ['a __proto__ as mark', exact('{"$plain":{"__proto__":1}}'), 'body.__proto__'],
    ['an unknown type', exact('{"$function":"alert(1)"}'), 'there is no type "$function"'],
    ['an inherited type', exact('{"$__proto__":1}'), 'there is no type'],
    ['a date of text', exact('{"$date":"2026-01-01"}'), '"$date" is not a valid time'],
    [
      'a date out of range',
      exact('{"$date":8.64e15}').replace('8.', '9.'),
      '"$date" is not a valid time',
    ],
    ['a date with parts of a millisecond', exact('{"$date":0.5}'), '"$date" is not a valid time'],
    ['a number of text', exact('{"$number":"12"}'), '"$number" is not'],
    ['a bigint in decimal', exact('{"$bigint":12}'), '"$bigint" is not a hexadecimal'],
    ['a bigint of nothing', exact('{"$bigint":"-"}'), '"$bigint" is not a hexadecimal'],
    ['a pattern without end', exact('{"$regexp":{"source":"(","flags":""}}'), 'line 2: '],
    ['a pattern without flags', exact('{"$regexp":{"source":"a"}}'), 'flags is not a string'],
    ['a map of items', exact('{"$map":[1]}'), 'an entry of "$map" is not an array'],
    ['a map of three', exact('{"$map":[[1,2,3]]}'), 'an entry of "$map" is not a pair'],
    ['a set of text', exact('{"$set":"abc"}'), '"$set" is not an array'],
    ['too many holes', exact('{"$sparse":{"length":4294967296,"items":{}}}'), 'line 2: '],
    ['holes of text', exact('{"$sparse":{"length":"5","items":{}}}'), '"$sparse" has no length'],
    ['an item outside', exact('{"$sparse":{"length":1,"items":{"1":0}}}'), 'an invalid index'],
    ['an item 1e0', exact('{"$sparse":{"length":9,"items":{"1e0":0}}}'), 'an invalid index'],
    ['an item length', exact('{"$sparse":{"length":9,"items":{"length":0}}}'), 'an invalid index'],
    ['bytes from nowhere', exact('{"$bytes":{"type":"Int8Array","bytes":0}}'), 'no such binary'],
    ['a Blob from a prototype', exact('{"$blob":{"type":"","bytes":"at"}}'), 'no such binary'],
    ['100,000 levels', exact('['.repeat(1e5) + ']'.repeat(1e5)), 'line 2: '],
    [
      '100,000 levels of JSON',
      record({}).replace('{}', `${'{"a":'.repeat(1e5)}1${'}'.repeat(1e5)}`),
      'line 2: ',
    ],
    ['501 levels', record({}).replace('{}', '['.repeat(501) + ']'.repeat(501)), '500 levels'],
  ])('with %s', async (_, line, error) => {
    const message = await refusal(await sealed([line]));
    expect(message).toContain('file_damaged: The file is damaged in line 2: ');
    expect(message).toContain(error);
  });

  test('with invalid UTF-8', async () => {
    const line = new TextEncoder().encode(`${JSON.stringify({ ...HEADER, documents: 1 })}\n`);
    const text = new TextEncoder().encode(`${record({ body: 'é' })}\n`);
    text[text.indexOf(0xc3)] = 0xff;
    const wrong = new Uint8Array([...line, ...text]);
    expect(await refusal(await gzipped(wrong))).toMatch(/^file_(damaged|not_cairn): /);
  });
});

describe('binary data is refused', () => {
  const view = (place: unknown, type = 'Uint8Array') =>
    exact(JSON.stringify({ $bytes: { type, bytes: place } }));
  const blob = (place: unknown) => exact(JSON.stringify({ $blob: { type: '', bytes: place } }));

  test('unless it is valid', async () => {
    const lines = [bytes({ buffer: 0 }), bytes({ blob: 1, base64: '' })];
    const values = exact(
      '[{"$blob":{"type":"a/b","bytes":1}},{"$bytes":{"type":"Uint8Array","bytes":0}}]',
    );
    const [section] = await read(await sealed([...lines, values]));
    expect(await describeValue(peek(section!.records[0]!.body))).toEqual(
      await describeValue([new Blob([], { type: 'a/b' }), Uint8Array.of(1, 2, 3)]),
    );
  });

  test.each([
    ['of no record', [bytes({ buffer: 0 }), record({})], 'line 3: binary data belongs to nothing'],
    ['at the end', [record({}), bytes({ buffer: 0 })], 'line 4: binary data belongs to nothing'],
    ['out of order', [bytes({ buffer: 1 }), view(1)], 'line 2: binary data is out of order'],
    ['that continues after its end', [bytes({ blob: 0 }), bytes({ blob: 0 })], 'line 3: binary'],
    ['of two kinds', [bytes({ blob: 0 }), view(0)], 'line 3: there is no such binary data'],
    [
      'that is used twice',
      [bytes({ blob: 0 }), `${blob(0)}`.replace(/"exact":(.*)}$/, '"exact":[$1,$1]}')],
      'no such',
    ],
    ['that is no base64', [bytes({ buffer: 0, base64: '%' }), view(0)], 'line 2: '],
    ['that is no text', [bytes({ buffer: 0, base64: 5 }), view(0)], 'the content is not a string'],
    ['with more fields', [bytes({ buffer: 0, more: 1 }), view(0)], 'unknown field "more"'],
    ['of an invalid length', [bytes({ buffer: 0 }), view(0, 'Int16Array')], 'line 3: '],
    ['of an unknown type', [bytes({ buffer: 0 }), view(0, 'Function')], 'has an unknown type'],
  ])('%s', async (_, lines, error) => {
    expect(await refusal(await sealed(lines))).toContain(error);
  });

  test('of a type that the platform lacks, with its own code', async () => {
    const name = 'Float16Array';
    const known = Object.getOwnPropertyDescriptor(globalThis, name);
    if (known) Reflect.deleteProperty(globalThis, name);
    try {
      const error = await refusal(await sealed([bytes({ buffer: 0, base64: '' }), view(0, name)]));
      expect(error).toContain('file_unsupported: The file needs Float16Array');
    } finally {
      if (known) Object.defineProperty(globalThis, name, known);
    }
  });
});

describe('a decompression bomb is refused', () => {
  test('with an endless line', async () => {
    const line = `${JSON.stringify({ ...HEADER, documents: 1 })}\n{"key":"`;
    const bomb = await gzipped(line + 'a'.repeat(2 * MAX_LINE));
    expect(bomb.length).toBeLessThan(MAX_LINE / 300);
    expect(await refusal(bomb)).toContain('record_too_large: line 2 takes more than 32 MB');
  });

  // A million lines.
  testAtNight?.('with more binary parts than a record can refer to', async () => {
    const lines = Array.from({ length: 2 ** 20 + 2 }, (_, at) => `{"buffer":${at},"base64":""}`);
    expect(await refusal(await sealed(lines))).toContain('record_too_large: line 1048579 ');
  });

  test('bigints with many digits are read fast', async () => {
    // The maximum of Firefox and WebKit. They need a minute to parse twenty of them in decimal.
    const bigint = `{"$bigint":"-${'f'.repeat(250_000)}"}`;
    const [section] = await read(await sealed([exact(`[${new Array(20).fill(bigint).join()}]`)]));
    const [first] = peek(section!.records[0]!.body) as bigint[];
    expect(first === -(2n ** 1_000_000n) + 1n).toBe(true);
  });
});
