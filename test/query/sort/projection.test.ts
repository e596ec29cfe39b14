import { describe, expect, test } from 'vitest';
import { CriteriaError } from '../../../src/errors/errors.ts';
import { compileSelect } from '../../../src/query/projection.ts';

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
    [{ name: 1 }, 'select'],
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
