import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { decode, encode } from '../../src/codec/capture.ts';
import type { ValueError } from '../../src/errors/errors.ts';

/** The documented maximum depth. */
const MAX_DEPTH = 500;

class Point {
  x = 1;
}
class OwnMap extends Map {}
class OwnBytes extends Uint8Array {}

function refusal(value: unknown): ValueError {
  try {
    encode(value, 'document');
  } catch (error) {
    return error as ValueError;
  }
  throw new Error('It was not refused.');
}

function nested(levels: number): object {
  let value: object = {};
  for (let level = 1; level < levels; level++) value = level % 2 ? { inside: value } : [value];
  return value;
}

/** An object that only claims to be a built-in. */
function imitation(name: string): object {
  return Object.create({ constructor: { name }, [Symbol.toStringTag]: name }) as object;
}

const cyclic: Record<string, unknown> = { list: [] };
(cyclic.list as unknown[]).push(cyclic);
const cyclicMap = new Map<unknown, unknown>();
cyclicMap.set('self', { map: cyclicMap });
const detached = new ArrayBuffer(8);
const detachedView = new Uint8Array(detached);
structuredClone(detached, { transfer: [detached] });

describe('an unsupported value is refused with its place', () => {
  test.each<[string, unknown, string, string]>([
    ['a function', { a: [{ f: () => 1 }] }, 'document.a[0].f', 'value_unsupported'],
    ['a symbol', { a: Symbol('s') }, 'document.a', 'value_unsupported'],
    ['a symbol key', { a: { [Symbol('s')]: 1 } }, 'document.a', 'value_unsupported'],
    ['a class instance', { a: { b: new Point() } }, 'document.a.b', 'value_unsupported'],
    ['a subclass of Map', [new OwnMap()], 'document[0]', 'value_unsupported'],
    ['a subclass of Uint8Array', [new OwnBytes(1)], 'document[0]', 'value_unsupported'],
    ['an Error', { a: new Error('e') }, 'document.a', 'value_unsupported'],
    ['a promise', { a: Promise.resolve() }, 'document.a', 'value_unsupported'],
    ['a WeakMap', { a: new WeakMap() }, 'document.a', 'value_unsupported'],
    ['a URL', { a: new URL('http://localhost') }, 'document.a', 'value_unsupported'],
    ['a boxed string', { a: Object('a') }, 'document.a', 'value_unsupported'],
    ['a detached buffer', { a: detached }, 'document.a', 'value_unsupported'],
    ['a detached view', { a: detachedView }, 'document.a', 'value_unsupported'],
    ['a proxy of a Map', { a: new Proxy(new Map(), {}) }, 'document.a', 'value_unsupported'],
    ['a proxy of a Set', { a: [new Proxy(new Set(), {})] }, 'document.a[0]', 'value_unsupported'],
    [
      'a bare Blob.prototype',
      { a: Object.create(Blob.prototype) },
      'document.a',
      'value_unsupported',
    ],
    ['a class named File', { a: imitation('File') }, 'document.a', 'value_unsupported'],
    ['a class named Map', { a: imitation('Map') }, 'document.a', 'value_unsupported'],
    ['a class named Date', { a: imitation('Date') }, 'document.a', 'value_unsupported'],
    ['a function in a Map', { m: new Map([['k', () => 1]]) }, 'document.m.k', 'value_unsupported'],
    ['a function in a Set', { s: new Set([1, () => 1]) }, 'document.s[1]', 'value_unsupported'],
    ['an object that contains itself', cyclic, 'document.list[0]', 'value_cyclic'],
    ['a Map that contains itself', cyclicMap, 'document.self.map', 'value_cyclic'],
    [
      'an own __proto__',
      JSON.parse('{"a":{"__proto__":{"b":1}}}'),
      'document.a.__proto__',
      'key_forbidden',
    ],
  ])('%s', (_, value, place, code) => {
    const error = refusal(value);
    expect(error).toMatchObject({ name: 'ValueError', code, place });
    expect(error.message).toContain(place);
  });

  test('a value nested deeper than every browser supports is refused', () => {
    expect(decode(encode(nested(MAX_DEPTH), 'document'))).toEqual(nested(MAX_DEPTH));
    expect(refusal(nested(MAX_DEPTH + 1))).toMatchObject({ code: 'value_too_deep' });
    expect(refusal(nested(100_000))).toMatchObject({ code: 'value_too_deep' });
  });
});

test('an object that occurs twice is no cycle', () => {
  const twice = { n: 1 };
  expect(decode(encode({ a: twice, b: [twice] }, 'document'))).toEqual({
    a: { n: 1 },
    b: [{ n: 1 }],
  });
});

test('constructor and prototype are ordinary keys and reach no prototype', () => {
  const value = JSON.parse('{"constructor":{"prototype":{"polluted":true}},"prototype":1}');
  expect(decode(encode(value, 'document'))).toEqual(value);
  expect(decode(encode({ ...value, at: new Date(1) }, 'document'))).toEqual({
    ...value,
    at: new Date(1),
  });
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

test('objects without a prototype are kept beside values outside JSON', () => {
  const bare = Object.assign(Object.create(null), { n: 1 });
  expect(decode(encode({ bare, at: new Date(1) }, 'document'))).toEqual({
    bare: { n: 1 },
    at: new Date(1),
  });
});

test('values of another realm keep their kinds', () => {
  const value = runInNewContext(
    '({ o: { n: 1 }, d: new Date(3), m: new Map([[1, new Set([2])]]), r: /a/g, l: [1, , 3] })',
  );
  const decoded = decode(encode(value, 'document'));
  expect(decoded).toStrictEqual({
    o: { n: 1 },
    d: new Date(3),
    m: new Map([[1, new Set([2])]]),
    r: /a/g,
    // biome-ignore lint/suspicious/noSparseArray: the hole is under test
    l: [1, , 3],
  });
});

test('bytes of another realm stay bytes', () => {
  const decoded = decode(encode(runInNewContext('new Uint8Array([1, 2])'), 'document'));
  expect(Object.prototype.toString.call(decoded)).toBe('[object Uint8Array]');
  expect(Array.from(decoded as Uint8Array)).toEqual([1, 2]);
});

test('a proxy of a framework is stored as its target', () => {
  const reactive = (value: object): object =>
    new Proxy(value, {
      get: (target, key) => {
        const item = Reflect.get(target, key);
        return typeof item === 'object' && item !== null ? reactive(item) : item;
      },
    });
  const value = { a: [{ b: 1 }], n: null };
  expect(decode(encode(reactive(value), 'document'))).toStrictEqual(value);
});

test('a getter is read once: the checked value is the stored value', () => {
  let reads = 0;
  const shifty = {
    get a() {
      reads++;
      return reads === 1 ? 1 : () => 'code';
    },
  };
  expect(decode(encode(shifty, 'document'))).toEqual({ a: 1 });
  expect(reads).toBe(1);
});

test('a sparse array of huge length costs only its items', () => {
  const sparse: unknown[] = [];
  sparse[4_000_000_000] = { last: true };
  sparse[7] = new Date(1);
  const decoded = decode(encode({ sparse }, 'document')) as { sparse: unknown[] };
  expect(decoded.sparse.length).toBe(4_000_000_001);
  expect(Object.keys(decoded.sparse)).toEqual(['7', '4000000000']);
  expect(decoded.sparse[4_000_000_000]).toEqual({ last: true });
});

test('a typed array stores only its part of the buffer', () => {
  const view = new Uint8Array(new ArrayBuffer(10_000_000), 5, 10);
  const decoded = decode(encode(view, 'document')) as Uint8Array;
  expect(decoded.buffer.byteLength).toBe(10);
});
