import { describe, expect, test } from 'vitest';
import { SecondaryIndex } from '../../../src/query/index/secondary-index.ts';
import { definition, type Entry, type Fields } from '../oracle/indexed-world.ts';

function entry(rank: number, document: Fields): Entry {
  return { rank, document };
}

function indexOf(fields: string | string[], multi: boolean, documents: readonly Fields[]) {
  const index = new SecondaryIndex<Entry>(definition(fields, multi));
  const entries = documents.map((document, at) => entry(at + 1, document));
  index.load(
    entries,
    entries.map((each) => index.read(each.document)),
  );
  return { index, entries };
}

describe('the key of a document', () => {
  const date = new Date(5);
  test.each<[string | string[], boolean, Fields, unknown]>([
    ['a', false, { a: 'x' }, 'x'],
    ['a', false, { a: date }, date],
    ['a', false, {}, null],
    ['a', false, { a: undefined }, null],
    ['a.b', false, { a: 'text' }, null],
    ['a.b', false, { a: { b: 7n } }, 7n],
    ['a', false, { a: [] }, undefined],
    ['a', false, { a: { b: 1 } }, undefined],
    ['a.b', false, { a: [{ b: 1 }] }, undefined],
    [['a', 'b'], false, { b: 2, a: 1 }, [1, 2]],
    [['a', 'b'], false, { b: 2 }, [null, 2]],
    [['a', 'b'], false, { a: [1], b: 2 }, undefined],
    ['a', true, { a: 'x' }, 'x'],
    ['a', true, {}, null],
    ['a', true, { a: [] }, []],
    ['a', true, { a: ['x'] }, 'x'],
    ['a', true, { a: [2, 1, 2n, 1] }, [1, 2]],
    ['a', true, { a: [1, [2], { b: 3 }] }, 1],
    ['a', true, { a: [1, /x/] }, [1, undefined]],
    ['a', true, { a: [/x/, 2, /y/, 1] }, [1, 2, undefined]],
    ['a', true, { a: [/x/] }, undefined],
    ['a', true, { a: [new Uint8Array(1), 1] }, 1],
    ['a.b', true, { a: [{ b: [1, 2] }, { b: 3 }, {}] }, [null, 1, 2, 3]],
    ['constructor', false, {}, null],
  ])('by %o, multi %s, of %o', (fields, multi, document, key) => {
    const found = new SecondaryIndex(definition(fields, multi)).read(document);
    expect(found).toEqual(key);
    expect(structuredClone(found)).toEqual(key);
  });
});

describe('the owner of a key', () => {
  test('is its entry', () => {
    const { index, entries } = indexOf('email', false, [{ email: 'a' }, { email: 'b' }]);
    expect(index.owner('b')?.[0]).toBe(entries[1]);
    expect(index.owner('c')).toBeUndefined();
    expect(index.owner('b', 2)).toBeUndefined();
    expect(index.owner('b', 1)?.[0]).toBe(entries[1]);
    index.remove(entries[1] as Entry, 'b');
    expect(index.owner('b')).toBeUndefined();
  });

  test('is undefined for a null, missing or unusable key', () => {
    const { index } = indexOf('email', false, [{ email: null }, {}, { email: [1] }]);
    expect(index.owner(null)).toBeUndefined();
    expect(index.owner(undefined)).toBeUndefined();
    const two = indexOf(['a', 'b'], false, [{ a: 1 }, { a: 1, b: 2 }]);
    expect(two.index.owner([1, null])).toBeUndefined();
    expect(two.index.owner([1, 2])).toEqual([two.entries[1], [1, 2]]);
  });

  test('is found by any of its items in a multi index', () => {
    const { index, entries } = indexOf('tags', true, [{ tags: ['a', 'b'] }, { tags: 'c' }]);
    expect(index.owner(['x', 'b'])).toEqual([entries[0], 'b']);
    expect(index.owner(['x', 'c'], 2)).toBeUndefined();
  });
});

describe('a document with items and a RegExp', () => {
  const ofTags = (...documents: Fields[]) => indexOf('tags', true, documents);

  test('owns its items, loaded or added', () => {
    const { index, entries } = ofTags({ tags: ['a', /x/, 'b'] }, { tags: 'c' });
    expect(index.owner(['b', undefined])?.[0]).toBe(entries[0]);
    index.add(entry(3, {}), ['d', undefined]);
    expect(index.owner('d')?.[0].rank).toBe(3);
  });

  test('is a candidate of every query until the RegExp is removed', () => {
    const { index, entries } = ofTags({ tags: ['a', /x/] });
    const [before] = entries as [Entry];
    expect([...index.unkeyed.values()]).toEqual([before]);
    const same = entry(1, { tags: ['a', /y/] });
    index.replace(before, same, ['a', undefined], ['a', undefined]);
    expect([...index.unkeyed.values()]).toEqual([same]);
    expect(index.owner('a')?.[0]).toBe(same);
    index.replace(same, entry(1, { tags: 'a' }), ['a', undefined], 'a');
    expect(index.unkeyed.size).toBe(0);
    index.remove(entry(1, {}), 'a');
    expect(index.owner('a')).toBeUndefined();
    expect(index.size).toBe(0);
  });
});

test('the size counts unkeyed entries and those without items', () => {
  const { index, entries } = indexOf('a', true, [{ a: [1, 2] }, { a: [] }, { a: /x/ }]);
  expect(index.size).toBe(3);
  expect([...index.unkeyed.values()]).toEqual([entries[2]]);
  index.replace(entries[2] as Entry, entry(3, { a: 1 }), undefined, 1);
  expect(index.size).toBe(3);
  expect(index.unkeyed.size).toBe(0);
  index.remove(entries[0] as Entry, [1, 2]);
  expect(index.size).toBe(2);
});
