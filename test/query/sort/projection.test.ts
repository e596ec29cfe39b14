import { find } from 'mingo';
import { describe, expect, test } from 'vitest';
import { CriteriaError } from '../../../src/errors/errors.ts';
import { compileChoices } from '../../../src/query/expressions/part.ts';
import { compileSelect } from '../../../src/query/projection.ts';
import { isManaged } from '../../../src/storage/segments/stored-record.ts';
import { fc, runs } from '../../setup/properties.ts';
import '../../setup/rare-operators.ts';

describe('a selection', () => {
  const document = {
    _id: 'x',
    name: 'Ada',
    address: { city: 'Oslo', zip: '0150', geo: { lat: 1, lng: 2 } },
    tags: ['a', 'b'],
    pets: [{ name: 'Rex', age: 3 }, 'stray', [{ name: 'Tom', age: 1 }], { age: 2 }],
    born: new Date(0),
  };

  test.each<[string[], object]>([
    [[], { _id: 'x' }],
    [['tags', 'name'], { _id: 'x', name: 'Ada', tags: ['a', 'b'] }],
    [['address.city'], { _id: 'x', address: { city: 'Oslo' } }],
    [['address.geo.lat', 'address.zip'], { _id: 'x', address: { zip: '0150', geo: { lat: 1 } } }],
    [['address.none'], { _id: 'x', address: {} }],
    [['name.first', 'none', 'born.time'], { _id: 'x' }],
    [['pets.name'], { _id: 'x', pets: [{ name: 'Rex' }, [{ name: 'Tom' }], {}] }],
    [['tags.x'], { _id: 'x', tags: [] }],
    [['address', 'address.city'], { _id: 'x', address: document.address }],
    [['address.city', 'address'], { _id: 'x', address: document.address }],
  ])('of %j', (paths, expected) => {
    const selected = compileSelect(paths)(document);
    expect(selected).toEqual(expected);
    expect(Object.keys(selected)).toEqual(Object.keys(expected));
  });

  test('shares selected subtrees and does not change the document', () => {
    const before = structuredClone(document);
    const selected = compileSelect(['address.geo', 'tags'])(document) as typeof document;
    expect(selected.address.geo).toBe(document.address.geo);
    expect(selected.tags).toBe(document.tags);
    expect(document).toEqual(before);
  });

  test('keeps own fields only', () => {
    expect(compileSelect(['constructor', 'toString'])({ _id: 'x', constructor: 1 })).toEqual({
      _id: 'x',
      constructor: 1,
    });
  });

  test.each([
    ['name', 'select'],
    [null, 'select'],
    [[''], 'select[0]'],
    [['a', 7], 'select[1]'],
    [['a.'], 'select[0]'],
    [['__proto__'], 'select[0]'],
    [['a', 'b.__proto__.c'], 'select[1]'],
  ])('refuses %j', (paths, place) => {
    expect(() => compileSelect(paths)).toThrow(CriteriaError);
    expect(() => compileSelect(paths)).toThrow(
      expect.objectContaining({ code: 'select_invalid', place }),
    );
  });
});

describe('an object of choices', () => {
  const document = {
    _id: 'x',
    _updated: false,
    name: 'Ada',
    address: { city: 'Oslo', zip: '0150' },
    tags: ['a', 'b', 'c', 'd'],
    pets: [{ name: 'Rex', age: 3, toys: [1, 2, 3] }, 'stray', { age: 2 }],
  };
  const { address, tags, pets } = document;

  test.each<[object, object]>([
    [{}, document],
    [{ name: 1 }, { _id: 'x', name: 'Ada' }],
    [
      { name: true, 'address.city': 1 },
      { _id: 'x', name: 'Ada', address: { city: 'Oslo' } },
    ],
    [{ name: 1, _id: 0 }, { name: 'Ada' }],
    [{ _id: 1 }, { _id: 'x' }],
    [{ _updated: 1 }, { _id: 'x', _updated: false }],
    [
      { name: 1, _updated: 1 },
      { _id: 'x', _updated: false, name: 'Ada' },
    ],
    [
      { name: 1, _updated: 0 },
      { _id: 'x', name: 'Ada' },
    ],
    [
      { _id: 0, _updated: 0, pets: 0, tags: 0 },
      { name: 'Ada', address },
    ],
    [
      { 'address.zip': 0, tags: false, pets: 0 },
      { _id: 'x', _updated: false, name: 'Ada', address: { city: 'Oslo' } },
    ],
    [
      { 'pets.age': 0, tags: 0, address: 0, name: 0 },
      { _id: 'x', _updated: false, pets: [{ name: 'Rex', toys: [1, 2, 3] }, 'stray', {}] },
    ],
    [
      { tags: { $slice: 2 }, pets: 0 },
      { _id: 'x', _updated: false, name: 'Ada', address, tags: ['a', 'b'] },
    ],
    [
      { tags: { $slice: -1 }, name: 1 },
      { _id: 'x', name: 'Ada', tags: ['d'] },
    ],
    [
      { tags: { $slice: [1, 2] }, name: 1 },
      { _id: 'x', name: 'Ada', tags: ['b', 'c'] },
    ],
    [
      { tags: { $slice: [-3, 2] }, name: 1 },
      { _id: 'x', name: 'Ada', tags: ['b', 'c'] },
    ],
    [
      { tags: { $slice: [9, 2] }, name: 1 },
      { _id: 'x', name: 'Ada', tags: [] },
    ],
    [
      { 'pets.toys': { $slice: 1 }, name: 1 },
      { _id: 'x', name: 'Ada', pets: [{ toys: [1] }, {}] },
    ],
    [
      { name: { $slice: 1 }, pets: 1 },
      { _id: 'x', name: 'Ada', pets },
    ],
    [{ pets: { $elemMatch: { age: { $lt: 3 } } } }, { _id: 'x', pets: [{ age: 2 }] }],
    [
      { tags: { $elemMatch: { $gt: 'b' } }, name: 1 },
      { _id: 'x', name: 'Ada', tags: ['c'] },
    ],
    [{ pets: { $elemMatch: { age: 9 } } }, { _id: 'x' }],
    [{ name: { $elemMatch: { age: 9 } } }, { _id: 'x' }],
    [
      { none: 0, tags: 0, pets: 0, 'name.first': 0 },
      { _id: 'x', _updated: false, name: 'Ada', address },
    ],
  ])('%j', (select, expected) => {
    const before = structuredClone(document);
    const selected = compileChoices(select, isManaged)(document);
    expect(selected).toEqual(expected);
    expect(Object.keys(selected)).toEqual(Object.keys(expected));
    expect(document).toEqual(before);
    expect(tags.length).toBe(4);
  });

  test.each<[unknown, string]>([
    [{ name: 1, tags: 0 }, 'select.tags'],
    [{ name: 0, tags: { $elemMatch: {} } }, 'select.tags'],
    [{ name: 2 }, 'select.name'],
    [{ name: 'name' }, 'select.name'],
    [{ name: null }, 'select.name'],
    [{ name: {} }, 'select.name'],
    [{ name: { $slice: 1, $elemMatch: {} } }, 'select.name'],
    [{ name: { $meta: 'x' } }, 'select.name'],
    [{ 'tags.$': 1 }, 'select.tags.$'],
    [{ tags: { $slice: 1.5 } }, 'select.tags.$slice'],
    [{ tags: { $slice: [1] } }, 'select.tags.$slice'],
    [{ tags: { $slice: [1, 0] } }, 'select.tags.$slice'],
    [{ tags: { $slice: [1, -1] } }, 'select.tags.$slice'],
    [{ tags: { $slice: [] } }, 'select.tags.$slice'],
    [{ tags: { $slice: 'x' } }, 'select.tags.$slice'],
    [{ tags: { $elemMatch: 5 } }, 'select.tags.$elemMatch'],
    [{ address: 1, 'address.city': 1 }, 'select.address.city'],
    [{ 'address.city': 1, address: 1 }, 'select.address'],
    [{ 'a..b': 1 }, 'select.a..b'],
    [{ 'a.__proto__': 1 }, 'select.a.__proto__'],
    [new Map(), 'select'],
  ])('refuses %j', (select, place) => {
    expect(() => compileChoices(select, isManaged)).toThrow(
      expect.objectContaining({ code: 'select_invalid', place }),
    );
  });

  const n = fc.integer({ min: 0, max: 3 });
  const item = fc.record({ n, m: n });
  const documents = fc.record(
    {
      _id: fc.constant('x'),
      a: n,
      b: fc.record({ c: n, d: fc.record({ e: n }) }),
      list: fc.array(n, { maxLength: 4 }),
      rows: fc.array(item, { maxLength: 3 }),
    },
    { requiredKeys: ['_id'], noNullPrototype: true },
  );
  const range = fc.oneof(
    fc.integer({ min: -3, max: 3 }).filter((at) => at !== 0),
    fc.tuple(fc.integer({ min: -3, max: 3 }), fc.integer({ min: 1, max: 3 })),
  );
  const paths = ['a', 'b', 'b.c', 'b.d.e', 'rows', 'rows.n', 'none', 'a.b'];
  const isInside = (path: string, all: readonly string[]) =>
    all.some((other) => path.startsWith(`${other}.`));
  const choices = fc
    .record({
      keeps: fc.boolean(),
      named: fc.uniqueArray(fc.constantFrom(...paths), { minLength: 1, maxLength: 3 }),
      slice: fc.option(range, { nil: undefined }),
      least: fc.option(n, { nil: undefined }),
      id: fc.boolean(),
    })
    .map(({ keeps, named, slice, least, id }) => ({
      ...Object.fromEntries(
        named.filter((path) => !isInside(path, named)).map((path) => [path, keeps ? 1 : 0]),
      ),
      // mingo takes it for an inclusion.
      ...(keeps && slice !== undefined ? { list: { $slice: slice } } : {}),
      ...(keeps && least !== undefined && !named.some((path) => path.startsWith('rows'))
        ? { rows: { $elemMatch: { n: { $gte: least } } } }
        : {}),
      ...(id ? {} : { _id: 0 as const }),
    }));

  test('agrees with mingo', () => {
    fc.assert(
      fc.property(documents, choices, (given, select) => {
        const [theirs] = find([structuredClone(given)], {}, select as never).all();
        const ours = compileChoices(select, isManaged)(given);
        expect(ours, JSON.stringify([given, select])).toEqual(theirs);
      }),
      runs(3000),
    );
  });
});
