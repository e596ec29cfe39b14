import { expect, test } from 'vitest';
import { peek } from '../../../src/codec/body.ts';
import { encode } from '../../../src/codec/capture.ts';
import { leaves, strings, valuesOf } from '../../codec/arbitrary-values.ts';
import { fc, runs } from '../../setup/properties.ts';
import { describeValue } from './describe-value.ts';
import { read, record, section, write } from './files.ts';

const bytes = fc.uint8Array({ maxLength: 40 }).map((array) => array.slice().buffer);
const whole = bytes.map((buffer) => buffer.slice(0, buffer.byteLength & ~7));
const mediaType = fc.constantFrom('', 'text/plain', 'image/svg+xml;charset=utf-8');

const { Float16Array } = globalThis as { Float16Array?: typeof Float32Array };
const views: (new (buffer: ArrayBuffer) => ArrayBufferView)[] = [
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  ...(Float16Array ? [Float16Array] : []),
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
  DataView,
];

/** All kinds of leaf values. */
const everything = [
  ...leaves,
  fc.oneof(...views.map((View) => whole.map((buffer) => new View(buffer)))),
  fc.bigInt({ min: -(2n ** 17_000n), max: 2n ** 17_000n }),
  fc.constantFrom<unknown>(Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, /[/\]\n]/, /(?:)/v),
  fc.date({ min: new Date(-8.64e15), max: new Date(8.64e15) }),
  fc.tuple(bytes, mediaType).map(([content, type]) => new Blob([content], { type })),
  fc
    .record({ content: bytes, name: strings, type: mediaType, lastModified: fc.nat() })
    .map(({ content, name, ...rest }) => new File([content], name, rest)),
  // Objects that look like the markers of the format.
  fc.constantFrom<unknown>({ $date: 0 }, { $plain: { $plain: 1 } }, { $: [] }, { $map: 1, b: 2 }),
  fc.constantFrom<unknown>(Object.assign([], { 4294967294: 'last' }), new Array(7)),
];

const instant = fc.oneof(fc.nat(), fc.double({ min: 0, max: 8.64e15, noNaN: true }));
const records = fc.array(
  fc.record({
    key: strings.filter((key) => key !== '' && key !== '__proto__'),
    order: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    flags: fc.integer({ min: 0, max: 3 }),
    stamps: fc.option(fc.tuple(instant, instant, instant, instant), { nil: undefined }),
    value: valuesOf(everything),
  }),
  { maxLength: 6 },
);

const headers = fc.record(
  {
    type: fc.constantFrom('DOCUMENT_BASED' as const, 'KEY_VALUE_BASED'),
    created_at: fc.nat(),
    label: strings,
    options: fc
      .dictionary(strings, fc.jsonValue())
      .filter((options) => !JSON.stringify(options).includes('__proto__'))
      // JSON has no -0.
      .map((options) => JSON.parse(JSON.stringify(options))),
  },
  { requiredKeys: ['type', 'created_at', 'options'] },
);

const collections = fc
  .array(fc.record({ name: strings, header: headers, records }), { maxLength: 3 })
  .map((all) =>
    all.map(({ name, header, records: made }, index) => ({
      header: { ...header, collection: `${name}${index}` },
      made,
    })),
  );

test('every storable value survives a round trip through a file', async () => {
  await fc.assert(
    fc.asyncProperty(
      collections,
      fc.integer({ min: 1, max: 10 }),
      fc.integer({ min: 1, max: 300 }),
      async (all, batch, chunk) => {
        const sections = all.map(({ header, made }) =>
          section(
            made.map(({ value, ...rest }) => {
              const isDocument = header.type === 'DOCUMENT_BASED';
              return { ...rest, body: encode(isDocument ? { value } : value, 'value') };
            }),
            header,
          ),
        );
        const found = await read(await write(sections, batch), chunk);
        expect(found.map(({ header }) => header)).toStrictEqual(
          sections.map(({ header }) => header),
        );
        for (const [at, { records: wanted }] of sections.entries()) {
          const back = found[at]?.records ?? [];
          expect(back.map(({ body: _, ...rest }) => rest)).toStrictEqual(
            wanted.map(({ body: _, ...rest }) => rest),
          );
          for (const [index, { body }] of wanted.entries()) {
            const { body: came } = back[index]!;
            if (typeof body === 'string') expect(came).toBe(body);
            else expect(await describeValue(peek(came))).toEqual(await describeValue(peek(body)));
          }
        }
      },
    ),
    runs(200),
  );
}, 60_000);

test('binary data of several lines survives a round trip', async () => {
  const large = new Uint8Array(2_000_001).map((_, at) => at * 7);
  const exact = () => ({
    exact: {
      file: new File([large], 'film.mp4', { type: 'video/mp4', lastModified: 5 }),
      blobs: [new Blob([]), new Blob([large.subarray(0, 786_432)]), new Blob([large])],
      views: [large.slice(), new Float64Array(0), large.slice(0, 786_432).buffer],
    },
  });
  const sections = [
    section([
      { ...record(1), body: exact() },
      { ...record(2), body: exact() },
    ]),
  ];
  const [back] = await read(await write(sections));
  for (const { body } of back!.records) {
    expect(await describeValue(peek(body))).toEqual(await describeValue(exact().exact));
  }
});
