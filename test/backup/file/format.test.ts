import { expect, test } from 'vitest';
import { version } from '../../../package.json';
import { peek } from '../../../src/codec/body.ts';
import { describeValue } from './describe-value.ts';
import { type Bytes, gzipped, read, record, section, unpacked, write } from './files.ts';
import { FILE_1, RECORDS_1 } from './format-1.ts';

const sections = [
  section(
    [
      { ...record(1, '{"name":"Ada"}'), flags: 1, stamps: [5, 6, 0, 0] },
      record(2, { exact: { at: new Date(7), big: -255n, photo: new Blob(['hi']) } }),
    ],
    { type: 'DOCUMENT_BASED', label: 'first', created_at: 9 },
  ),
  section([], { collection: 'settings', type: 'KEY_VALUE_BASED', options: {} }),
];

test('a file has human-readable lines of JSON', async () => {
  const text = await unpacked(await write(sections));
  const shown = text.replaceAll(version, 'VERSION').replace(/(?<="crc32":")[0-9a-f]{8}/g, 'CRC');
  expect(shown).toBe(
    `{"format":"cairn-backup","format_number":1,"version":"VERSION","collection":"users","type":"DOCUMENT_BASED","created_at":9,"label":"first","options":{"indexes":["email"]},"documents":2}
{"key":"key-1","order":1,"flags":1,"stamps":[5,6,0,0],"body":{"name":"Ada"}}
{"blob":0,"base64":"aGk="}
{"key":"key-2","order":2,"flags":0,"exact":{"at":{"$date":7},"big":{"$bigint":"-ff"},"photo":{"$blob":{"type":"","bytes":0}}}}
{"end":true,"documents":2,"crc32":"CRC"}
{"format":"cairn-backup","format_number":1,"version":"VERSION","collection":"settings","type":"KEY_VALUE_BASED","created_at":1790000000000,"options":{},"documents":0}
{"end":true,"documents":0,"crc32":"CRC"}
{"format":"cairn-backup","format_number":1,"version":"VERSION","sections":2}
`,
  );
});

test('the checksum equals that of gzip over the same lines', async () => {
  const text = await unpacked(await write(sections));
  const parts = text.matchAll(/({"format".*?)({"end":true.*?}\n)/gs);
  let count = 0;
  for (const [, lines, end] of parts) {
    const packed: Bytes = await gzipped(lines as string);
    const trailer = new DataView(packed.buffer, packed.length - 8);
    expect(JSON.parse(end as string).crc32).toBe(
      trailer.getUint32(0, true).toString(16).padStart(8, '0'),
    );
    count++;
  }
  expect(count).toBe(2);
});

test('a file without collections has one line', async () => {
  const file = await write([]);
  expect((await unpacked(file)).split('\n')).toHaveLength(2);
  expect(await read(file)).toEqual([]);
});

test('unknown fields of a header are not written', async () => {
  const given = section([], { ...{ secret: 1 }, label: undefined });
  const [back] = await read(await write([given]));
  expect(Object.keys(back!.header)).not.toContain('secret');
  expect(Object.keys(back!.header)).not.toContain('label');
});

test('a file of format 1 stays readable', async () => {
  const file = Uint8Array.from(atob(FILE_1), (character) => character.charCodeAt(0));
  const [documents, values] = await read(file);
  expect(documents?.header).toEqual({
    collection: 'users',
    type: 'DOCUMENT_BASED',
    created_at: 1_790_000_000_000,
    label: 'before the trip',
    options: { indexes: ['email'] },
    documents: RECORDS_1.length,
  });
  expect(values?.header).toMatchObject({ collection: 'settings', type: 'KEY_VALUE_BASED' });
  for (const [at, { body, ...rest }] of RECORDS_1.entries()) {
    const { body: found, ...others } = documents!.records[at]!;
    expect(others).toEqual(rest);
    expect(await describeValue(peek(found))).toEqual(await describeValue(peek(body)));
  }
});
