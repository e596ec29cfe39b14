import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromCouch, toCouch } from '../../../src/replication/couchdb/couch-documents.ts';

const leaf = fc.oneof(
  fc.string(),
  fc.double(),
  fc.boolean(),
  fc.constantFrom(null, undefined, -0, '$date', '$bigint'),
  fc.bigInt(),
  fc.date({ noInvalidDate: false }),
  fc.uint8Array(),
  fc.constant(/x+/gi),
);
const name = fc
  .oneof(fc.constantFrom('$cairn', '_x', '$date', 'toString', 'constructor', '0'), fc.string())
  .filter((key) => key !== '__proto__' && key !== '_id');
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    leaf,
    fc.array(tie('any')),
    fc.dictionary(name, tie('any')),
    fc.array(fc.tuple(leaf, tie('any'))).map((pairs) => new Map(pairs)),
    fc.array(tie('any')).map((items) => new Set(items)),
    fc.array(tie('any')).map((items) => Object.assign(new Array(items.length + 2), items)),
  ),
})).any;
const fields = fc.dictionary(name, value).map((record) => ({ ...record }));

test('CouchDB gives back what it was given, and gets no name that it refuses', () => {
  fc.assert(
    fc.property(fields, (own) => {
      const document = { _id: 'o', ...own };
      const sent = JSON.parse(JSON.stringify(toCouch('o', document, { key: '1 r.x' })));
      for (const key of Object.keys(sent)) if (key.startsWith('_')) expect(key).toBe('_id');
      const change = fromCouch({ ...sent, _rev: '1-a' });
      expect(change.document).toEqual(document);
      expect(Object.keys(change.document ?? {}).sort()).toEqual(Object.keys(document).sort());
      expect(change).toMatchObject({ id: 'o', version: '1-a', key: 'r.x' });
    }),
  );
});

test('what another program changes is as it made it', () => {
  fc.assert(
    fc.property(fields, fc.string(), fc.jsonValue(), (own, key, given) => {
      fc.pre(!key.startsWith('_') && key !== '$cairn');
      const sent = JSON.parse(JSON.stringify(toCouch('o', { _id: 'o', ...own }, {})));
      // What stands for a value outside JSON is not a change.
      fc.pre(typeof given !== 'string');
      const changed = JSON.parse(JSON.stringify({ ...sent, _rev: '2-b', [key]: given }));
      const { document } = fromCouch(changed);
      expect((document as Record<string, unknown>)[key]).toEqual(changed[key]);
    }),
  );
});
