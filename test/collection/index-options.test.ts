import { describe, expect, test } from 'vitest';
import { parseCollectionOptions } from '../../src/api/options/collection-options.ts';
import { parseIndexes } from '../../src/api/options/index-options.ts';
import { OptionError } from '../../src/errors/errors.ts';

function refusalOf(option: unknown): OptionError {
  try {
    parseCollectionOptions({ name: 'people', type: 'DOCUMENT_BASED', indexes: option });
  } catch (error) {
    if (error instanceof OptionError) return error;
    throw error;
  }
  throw new Error('The option was accepted.');
}

describe('the option indexes', () => {
  test('is normalized to plain data', () => {
    const parsed = parseIndexes([
      'email',
      { fields: ['region', 'age'] },
      { fields: '_created_timestamp', unique: true },
      { fields: 'tags', multi: true },
    ]);
    expect(parsed).toEqual([
      { name: 'email', fields: ['email'], unique: false, multi: false },
      { name: 'region,age', fields: ['region', 'age'], unique: false, multi: false },
      { name: '_created_timestamp', fields: ['_created_timestamp'], unique: true, multi: false },
      { name: 'tags', fields: ['tags'], unique: false, multi: true },
    ]);
    expect(JSON.parse(JSON.stringify(parsed))).toEqual(parsed);
  });

  test('may be left out', () => {
    expect(parseIndexes(undefined)).toEqual([]);
  });

  test('merges a unique and a plain index over the same fields', () => {
    const unique = { name: 'email', fields: ['email'], unique: true, multi: false };
    expect(parseIndexes(['email', { fields: 'email', unique: true }])).toEqual([unique]);
    expect(parseIndexes([{ fields: ['email'], unique: true }, 'email'])).toEqual([unique]);
  });

  test('distinguishes a field with a comma from two fields', () => {
    const names = parseIndexes(['a,b', { fields: ['a', 'b'] }, 'a\\,b', { fields: ['a\\', 'b'] }]);
    expect(names.map(({ name }) => name)).toEqual(['a\\,b', 'a,b', 'a\\\\\\,b', 'a\\\\,b']);
    expect(new Set(names.map(({ name }) => name)).size).toBe(4);
  });

  test('keeps no reference to objects of the caller', () => {
    const fields = ['a', 'b'];
    const [index] = parseIndexes([{ fields }]);
    fields.push('c');
    expect(index?.fields).toEqual(['a', 'b']);
  });

  test.each([
    ['email', 'indexes'],
    [{}, 'indexes'],
    [null, 'indexes'],
    [['a', 7], 'indexes[1]'],
    [[null], 'indexes[0]'],
    [[['a']], 'indexes[0]'],
    [[''], 'indexes[0].fields'],
    [['a', 'b..c'], 'indexes[1].fields'],
    [['a', { fields: [] }], 'indexes[1].fields'],
    [[{}], 'indexes[0].fields'],
    [[{ fields: 7 }], 'indexes[0].fields'],
    [[{ fields: ['a', 7] }], 'indexes[0].fields'],
    [[{ fields: ['a', 'a'] }], 'indexes[0].fields'],
    [[{ fields: 'a.__proto__' }], 'indexes[0].fields'],
    [['_id'], 'indexes[0].fields'],
    [[{ fields: 'a', unique: 1 }], 'indexes[0].unique'],
    [[{ fields: 'a', multi: 'yes' }], 'indexes[0].multi'],
    [[{ fields: ['a', 'b'], multi: true }], 'indexes[0].multi'],
    [[{ fields: 'a', uniqe: true }], 'uniqe'],
    [['a', 'a'], 'indexes[1]'],
    [['a', { fields: 'a', multi: true }], 'indexes[1]'],
  ])('refuses %j at %s', (option, place) => {
    expect(refusalOf(option).place).toBe(place);
  });
});
