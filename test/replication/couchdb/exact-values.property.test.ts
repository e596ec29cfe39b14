import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isPlainObject } from '../../../src/codec/kinds.ts';
import { Malformed } from '../../../src/errors/errors.ts';
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
      const sent = JSON.parse(JSON.stringify(toCouch('o', document, { key: 'r.x' })));
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
      const text = JSON.stringify({ ...sent, _rev: '2-b', [key]: given });
      const changed = JSON.parse(text);
      // No collection can hold it.
      if (text.includes('"__proto__":')) {
        expect(() => fromCouch(changed)).toThrow(Malformed);
        return;
      }
      const { document } = fromCouch(changed);
      expect((document as Record<string, unknown>)[key]).toEqual(changed[key]);
    }),
    { examples: [[{}, 'any', JSON.parse('{"__proto__":{}}')]] },
  );
});

/**
 * An object, and the same with all arrays in another order: other programs sort lists, and take
 * from them.
 */
function reordered(given: unknown, ranks: readonly number[]): unknown {
  if (Array.isArray(given))
    return given
      .map((item, index) => [reordered(item, ranks), ranks[index % ranks.length] ?? 0] as const)
      .filter(([, rank]) => rank > -8)
      .sort(([, a], [, b]) => a - b)
      .map(([item]) => item);
  if (!isPlainObject(given)) return given;
  return Object.fromEntries(
    Object.entries(given).map(([key, item]) => [key, reordered(item, ranks)]),
  );
}

test('values move with what stands for them', () => {
  const plain = fc.letrec((tie) => ({
    any: fc.oneof(
      { depthSize: 'small' },
      leaf,
      fc.constant(new Date(0).toISOString()),
      fc.constant(new Date(0)),
      fc.array(tie('any')),
      fc.dictionary(name, tie('any')),
      fc.array(fc.tuple(leaf, leaf)).map((pairs) => new Map(pairs)),
    ),
  })).any;
  const ranks = fc.array(fc.integer({ min: -10, max: 10 }), { minLength: 1 });
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom('a', 'b', 'c'), plain), ranks, (own, ranked) => {
      const { $cairn, ...sent } = JSON.parse(
        JSON.stringify(toCouch('o', { _id: 'o', ...own }, {})),
      );
      const moved = reordered(sent, ranked) as { _id: string };
      const { document, defect } = fromCouch({ ...moved, ...($cairn && { $cairn }), _rev: '2-b' });
      expect(document).toEqual(reordered({ _id: 'o', ...own }, ranked));
      expect(defect).toBeUndefined();
    }),
  );
});

const wrote = (document: object): any => JSON.parse(JSON.stringify(toCouch('o', document, {})));
const read = (couch: object) => fromCouch({ _id: 'o', _rev: '2-b', ...couch } as never);

test('a text of the document that equals what stands for a value stays a text', () => {
  const at = new Date(0);
  const map = new Map([['a', 1]]);
  const { map: text } = wrote({ map });
  const document = { _id: 'o', at, map, texts: [at.toISOString(), text, `${text}~`] };
  expect(read(wrote(document)).document).toEqual(document);
});

test('what cannot be matched is left as it is, and said', () => {
  const map = new Map([['role', 'admin']]);
  const { $cairn, ...sent } = wrote({ _id: 'o', map, at: new Date(0), bytes: new Uint8Array(3) });
  expect(read(sent)).toMatchObject({ document: sent, defect: expect.stringContaining(sent.map) });
  // Of another document, with the content of another value, damaged, of an unknown type.
  const [text] = Object.keys($cairn.exact).filter((one) => one.startsWith('$map'));
  for (const other of [{ $map: [['role', 'user']] }, { $map: 7 }, { $future: 1 }, 7, null]) {
    const exact = { ...$cairn.exact, [text as string]: other };
    const { document, defect } = read({ ...sent, $cairn: { exact } });
    expect(document).toEqual({ ...sent, at: new Date(0), bytes: new Uint8Array(3) });
    expect(defect).toBe(`nothing tells what ${sent.map} stood for`);
  }
  expect(read({ ...sent, $cairn: { fields: { _archived: { $x: 1 } } } }).defect).toContain('"_"');
});

test('a text that stands for a large value in many places takes no more memory than a document may', () => {
  const { $cairn, bytes } = wrote({ bytes: new Uint8Array(3 * 1024 * 1024) });
  const { document, defect } = read({ list: Array(1000).fill(bytes), $cairn });
  const list = (document as { list: unknown[] }).list;
  expect(list.filter((one) => typeof one !== 'string')).toHaveLength(7);
  expect(defect).toContain(bytes);
});

test.each([
  ['too many levels', JSON.parse(`{"x":${'['.repeat(600)}${']'.repeat(600)}}`)],
  ['a million levels', JSON.parse(`{"x":${'['.repeat(1e6)}${']'.repeat(1e6)}}`)],
  ['the key __proto__', JSON.parse('{"x":{"__proto__":{"admin":true}}}')],
])('a document with %s is malformed, and no failure of all', (_, fields) => {
  expect(() => read(fields)).toThrow(Malformed);
});

describe('documents as earlier versions wrote them', () => {
  const [ann, zoe] = [new Map([['role', 'user']]), new Map([['role', 'admin']])];
  const people = [
    { name: 'zoe', rights: zoe, at: new Date(1) },
    { name: 'ann', rights: ann, at: new Date(2) },
  ];
  const placed = {
    people: people.map(({ name: own, at }) => ({
      name: own,
      rights: '$map',
      at: at.toISOString(),
    })),
    only: '$set',
    $cairn: {
      key: '2 r.x',
      exact: {
        paths: [
          ...['rights', 'at'].flatMap((field) => [0, 1].map((at) => ['people', at, field])),
          ['only'],
        ],
        values: [
          ...[zoe, ann].map((map) => ({ $map: [...map] })),
          ...[1, 2].map((time) => ({ $date: time })),
          { $set: [1] },
        ],
      },
    },
  };

  test('are read', () => {
    const { document, defect } = read(placed);
    expect(document).toEqual({ _id: 'o', people, only: new Set([1]) });
    expect(defect).toBeUndefined();
  });

  test('get only what is certain where another program has sorted them', () => {
    const sorted = { ...placed, people: [...placed.people].reverse(), _rev: '3-c' };
    const { document, defect } = read(sorted);
    expect(document).toEqual({ _id: 'o', people: sorted.people, only: new Set([1]) });
    expect(defect).toBe('nothing tells what $map stood for');
  });
});
