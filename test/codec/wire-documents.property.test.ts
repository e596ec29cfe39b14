import { expect, test } from 'vitest';
import { documentDefect } from '../../src/codec/exact-json/document-defect.ts';
import { decodeDocument, encodeDocument } from '../../src/codec/exact-json/wire-documents.ts';
import { sameValue } from '../../src/codec/same-value.ts';
import { fc, runs } from '../setup/properties.ts';
import { leaves, strings, valuesOf } from './arbitrary-values.ts';

const values = valuesOf(leaves);
const throughJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test('a document comes back from JSON as it was, bytes and the order of keys included', () => {
  fc.assert(
    fc.property(strings, values, values, (_id, a, b) => {
      const document = structuredClone({ b, _id, a });
      const wire = throughJson(encodeDocument(document));
      expect(documentDefect(wire, _id)).toBeUndefined();
      const back = decodeDocument(wire, _id);
      expect(back).toStrictEqual(document);
      expect(Object.keys(back)).toEqual(['b', '_id', 'a']);
    }),
    runs(1000),
  );
});

test('any JSON with the id decodes to a document that can be encoded, or has a defect', () => {
  const marks = fc.constantFrom(
    ...['$date', '$map', '$set', '$sparse', '$plain', '$bytes', '$blob', '$file', '$regexp'],
    ...['$bigint', '$number', '$undefined', '$other', '__proto__', 'constructor'],
  );
  const { json } = fc.letrec((tie) => ({
    json: fc.oneof(
      { maxDepth: 5 },
      fc.jsonValue({ maxDepth: 1 }),
      fc.array(tie('json'), { maxLength: 3 }),
      fc.dictionary(fc.oneof(marks, fc.string({ maxLength: 2 })), tie('json'), { maxKeys: 2 }),
      fc.tuple(marks, tie('json')).map(([mark, value]) => ({ [mark]: value })),
    ),
  }));
  fc.assert(
    fc.property(json, (value) => {
      const wire = throughJson({ _id: 'a', value });
      const defect = documentDefect(wire, 'a');
      if (defect === undefined) {
        const document = decodeDocument(wire, 'a');
        const again = decodeDocument(throughJson(encodeDocument(document)), 'a');
        expect(sameValue(again, document)).toBe(true);
      } else expect(() => decodeDocument(wire, 'a')).toThrow(defect);
    }),
    runs(3000),
  );
});

test.each([
  ['null', null, 'no object'],
  ['a list', [{ _id: 'a' }], 'no object'],
  ['another id', { _id: 'b' }, '_id'],
  ['an inherited id', JSON.parse('{"__proto__":{"_id":"a"}}'), '_id'],
  ['a key __proto__', JSON.parse('{"_id":"a","x":{"__proto__":{}}}'), '__proto__'],
  ['a number over the range', JSON.parse('{"_id":"a","x":[1e999]}'), 'too large'],
  ['a Blob', { _id: 'a', x: { $blob: { type: '', bytes: 0 } } }, 'Blob'],
  ['an unknown mark', { _id: 'a', x: { $where: 'sleep(9)' } }, '$where'],
  ['a wrong date', { _id: 'a', x: { $date: 'now' } }, '$date'],
  ['a list nested too deeply', nested(100_000), 'too deeply'],
])('%s is a defect of a document', (_, wire, reason) => {
  expect(documentDefect(wire, 'a')).toContain(reason);
  expect(() => decodeDocument(wire, 'a')).toThrow(reason);
});

test('a Blob cannot be encoded', () => {
  expect(() => encodeDocument({ _id: 'a', file: new Blob(['text']) })).toThrow(/Blob/);
});

function nested(levels: number): object {
  let list: unknown[] = [];
  for (let level = 0; level < levels; level++) list = [list];
  return { _id: 'a', list };
}
