import { describe, expect, test } from 'vitest';
import { CriteriaError } from '../../../src/errors/errors.ts';
import { compileCriteria } from '../../../src/query/criteria/compile-criteria.ts';
import { compileItemCriteria } from '../../../src/query/criteria/item-criteria.ts';
import '../../setup/rare-operators.ts';

const document = {
  text: 'abc',
  list: [1, 2, 3],
  object: {},
  date: new Date(0),
  map: new Map([['x', 1]]),
  set: new Set([1]),
  pattern: /x/g,
  bytes: new Uint8Array([7, 8]),
  buffer: new ArrayBuffer(2),
  view: new DataView(new ArrayBuffer(2)),
  blob: new Blob(['x']),
  objects: [{}, new Date(0), new Map()],
};

const unreachable = [
  'constructor',
  'toString',
  'hasOwnProperty',
  'constructor.name',
  'object.constructor',
  'object.constructor.name',
  'object.toString.name',
  'text.length',
  'text.0',
  'text.constructor',
  'list.length',
  'list.constructor.name',
  'list.map',
  'date.getTime',
  'date.constructor.name',
  'map.size',
  'map.x',
  'map.get.name',
  'set.size',
  'pattern.source',
  'pattern.lastIndex',
  'pattern.global',
  'bytes.0',
  'bytes.length',
  'bytes.buffer',
  'bytes.buffer.byteLength',
  'buffer.byteLength',
  'view.byteLength',
  'blob.size',
  'blob.type',
  'objects.constructor',
  'objects.1.getTime',
  'objects.2.size',
  'objects.length',
];

describe('paths never reach a prototype or a property of a built-in', () => {
  test.each(unreachable)('%s', (path) => {
    expect(compileCriteria({ [path]: { $exists: true } }).test(document)).toBe(false);
    expect(
      compileCriteria({ [path]: { $type: ['number', 'string', 'object'] } }).test(document),
    ).toBe(false);
    expect(compileItemCriteria({ [path]: { $exists: true } })(document)).toBe(false);
  });

  test('of an array that is an item', () => {
    for (const key of ['length', 'constructor', 'map', '2', '-1']) {
      expect(compileItemCriteria({ [key]: { $exists: true } })([1, 2])).toBe(false);
    }
    expect(compileItemCriteria({ 1: { $exists: true } })([1, 2])).toBe(true);
  });
});

test('own fields named like prototype properties match', () => {
  const own = {
    constructor: 1,
    toString: { name: 'x' },
    deep: { constructor: { name: 2 }, length: 3, size: 4, name: 5, lastIndex: 6 },
    list: [{ size: 7 }, { length: 8 }],
  };
  const paths = {
    constructor: 1,
    'toString.name': 'x',
    'deep.constructor.name': 2,
    'deep.length': 3,
    'deep.size': 4,
    'deep.name': 5,
    'deep.lastIndex': 6,
    'list.size': 7,
    'list.length': 8,
  };
  for (const [path, value] of Object.entries(paths)) {
    expect([path, compileCriteria({ [path]: value }).test(own)]).toEqual([path, true]);
  }
  expect(compileCriteria(paths).test(own)).toBe(true);
});

test('documents without a prototype match like others', () => {
  const bare = Object.assign(Object.create(null), {
    a: Object.assign(Object.create(null), { size: 1 }),
  });
  expect(compileCriteria({ 'a.size': 1 }).test(bare)).toBe(true);
  expect(compileCriteria({ a: { size: 1 } }).test(bare)).toBe(true);
});

const forbidden: [criteria: string, place: string][] = [
  ['{"__proto__": 1}', '__proto__'],
  ['{"a.__proto__.b": 1}', 'a.__proto__.b'],
  ['{"$or": [{"a": 1}, {"__proto__": {}}]}', '$or[1].__proto__'],
  ['{"a": {"$elemMatch": {"__proto__.b": 1}}}', 'a.$elemMatch.__proto__.b'],
];

test.each(forbidden)('__proto__ is refused in %s', (json, place) => {
  try {
    compileCriteria(JSON.parse(json));
  } catch (error) {
    expect(error).toBeInstanceOf(CriteriaError);
    expect(error).toMatchObject({ code: 'criteria_invalid', place });
    return;
  }
  expect.unreachable('accepted');
});
