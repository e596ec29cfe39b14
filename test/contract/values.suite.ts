import { describe, expect, test } from 'vitest';
import type { ClientFixture } from './client-fixture.ts';
import { PlatformBlob } from './platform-blob.ts';

const bytes = () => new Uint8Array([0, 1, 254, 255, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]).buffer;

const withHoles = () => Object.assign(new Array(4), { 0: 1, 2: 3 });

/** One value of each kind that a document may contain. */
const VALUES: Record<string, () => unknown> = {
  string: () => 'text',
  'empty string': () => '',
  'string of any characters': () => 'a\u0000\n"\\\u2028 é 漢 😀',
  'lone surrogate': () => 'a\ud800b\udfff',
  'long string': () => 'ä'.repeat(300_000),
  number: () => 1.5,
  'largest number': () => Number.MAX_VALUE,
  NaN: () => Number.NaN,
  Infinity: () => Number.POSITIVE_INFINITY,
  '-Infinity': () => Number.NEGATIVE_INFINITY,
  '-0': () => -0,
  true: () => true,
  false: () => false,
  null: () => null,
  undefined: () => undefined,
  bigint: () => -(2n ** 80n),
  Date: () => new Date(86_400_001),
  'invalid Date': () => new Date(Number.NaN),
  RegExp: () => /^a[\]/]+$/giu,
  Map: () =>
    new Map<unknown, unknown>([
      ['a', 1],
      [2, new Map([[{ key: true }, new Set([1])]])],
    ]),
  Set: () => new Set<unknown>(['a', 1, { b: new Date(1) }]),
  'empty array': () => [],
  array: () => [1, 'a', [null, [undefined]], { b: [] }],
  'array with holes': withHoles,
  'empty object': () => ({}),
  object: () => ({ b: 1, a: { c: [{ d: 'deep' }] }, '': 'empty key', 'a.b': 'dotted' }),
  'object with null prototype': () => Object.assign(Object.create(null), { a: 1 }),
  ArrayBuffer: bytes,
  'empty ArrayBuffer': () => new ArrayBuffer(0),
  Int8Array: () => new Int8Array(bytes()),
  Uint8Array: () => new Uint8Array(bytes()),
  Uint8ClampedArray: () => new Uint8ClampedArray(bytes()),
  Int16Array: () => new Int16Array(bytes()),
  Uint16Array: () => new Uint16Array(bytes()),
  Int32Array: () => new Int32Array(bytes()),
  Uint32Array: () => new Uint32Array(bytes()),
  Float32Array: () => new Float32Array([1.5, Number.NaN]),
  Float64Array: () => new Float64Array([1.5, -0, Number.NaN]),
  BigInt64Array: () => new BigInt64Array([-1n, 2n]),
  BigUint64Array: () => new BigUint64Array([1n, 2n]),
  DataView: () => new DataView(bytes(), 2, 3),
};

/**
 * A value as text that differs for different values: `toEqual` does not distinguish all of them.
 */
function describeValue(value: unknown): unknown {
  if (typeof value === 'number') return Object.is(value, -0) ? 'number -0' : `number ${value}`;
  if (typeof value === 'bigint') return `bigint ${value}`;
  if (typeof value !== 'object' || value === null) return value === undefined ? 'nothing' : value;
  const kind = Object.prototype.toString.call(value);
  if (Array.isArray(value)) {
    return [
      kind,
      value.length,
      ...Object.entries(value).map(([key, item]) => [key, describeValue(item)]),
    ];
  }
  if (kind === '[object Object]') {
    return Object.entries(value).map(([key, item]) => [key, describeValue(item)]);
  }
  if (value instanceof Date) return [kind, `${value.getTime()}`];
  if (value instanceof RegExp) return [kind, value.source, value.flags];
  if (value instanceof Map || value instanceof Set) {
    return [kind, ...Array.from(value as Iterable<unknown>, describeValue)];
  }
  if (value instanceof ArrayBuffer) return [kind, ...new Uint8Array(value)];
  if (ArrayBuffer.isView(value)) {
    return [kind, ...new Uint8Array(value.buffer, value.byteOffset, value.byteLength)];
  }
  throw new Error(`There are no words for ${kind}.`);
}

/** Every kind of value makes the round trip. */
export function valuesSuite(fixture: ClientFixture): void {
  describe('values', () => {
    test('every kind makes the round trip in a document, at once and after a reload', async () => {
      const things = fixture.documents();
      for (const [name, make] of Object.entries(VALUES)) {
        const stored = await things.insert({ _id: name, value: make(), inside: [{ of: make() }] });
        expect([name, describeValue(stored.value)]).toEqual([name, describeValue(make())]);
        expect('value' in stored).toBe(true);
      }
      const check = async (collection: typeof things) => {
        const byFunction = await collection.filter(() => true);
        for (const [at, [name, make]] of Object.entries(VALUES).entries()) {
          const expected = [name, describeValue(make()), [['of', describeValue(make())]]];
          for (const found of [
            await collection.get(name),
            await collection.find({ _id: name }),
            byFunction[at],
          ]) {
            const { _id, value, inside } = found as unknown as Record<string, unknown> & {
              inside: unknown[];
            };
            expect([_id, describeValue(value), describeValue(inside[0])]).toEqual(expected);
          }
        }
      };
      await check(things);
      await fixture.reopen();
      await check(fixture.documents());
    });

    test('every kind makes the round trip at a key, at once and after a reload', async () => {
      const values = fixture.keyValues();
      for (const [name, make] of Object.entries(VALUES)) {
        const back = await values.set([name], make());
        expect([name, describeValue(back)]).toEqual([name, describeValue(make())]);
        await values.set(['inside', name], make());
      }
      const check = async (collection: typeof values) => {
        for (const [name, make] of Object.entries(VALUES)) {
          const expected = [name, describeValue(make())];
          expect([name, describeValue(await collection.get([name]))]).toEqual(expected);
          expect([name, describeValue(await collection.get(['inside', name]))]).toEqual(expected);
          expect([name, await collection.has([name])]).toEqual([name, true]);
        }
      };
      await check(values);
      await fixture.reopen();
      await check(fixture.keyValues());
    });

    test('a Blob keeps its type and its bytes', async () => {
      const things = fixture.documents<{ file: Blob }>();
      const file = new PlatformBlob(['hello'], { type: 'text/plain' });
      const { _id } = await things.insert({ file });
      await fixture.keyValues<Blob>().set('file', file);
      await fixture.reopen();
      for (const back of [
        (await fixture.documents<{ file: Blob }>().get(_id))?.file,
        await fixture.keyValues<Blob>().get('file'),
      ]) {
        expect(back instanceof PlatformBlob).toBe(true);
        expect(back?.type).toBe('text/plain');
        expect(await back?.text()).toBe('hello');
      }
    });

    test("a Blob and a File of the environment's own class keep their content", async () => {
      const things = fixture.documents<{ file: Blob }>();
      const blob = new Blob(['hel', 'lo'], { type: 'text/plain' });
      const file = new File(['hello'], 'a.txt', { type: 'text/plain', lastModified: 12 });
      await things.insert({ _id: 'blob', file: blob });
      await things.insert({ _id: 'file', file });
      await fixture.reopen();
      for (const { file: back } of await fixture.documents<{ file: Blob }>().filter({})) {
        expect(back.size).toBe(5);
        expect(back.type).toBe('text/plain');
        expect(await back.text()).toBe('hello');
      }
    });

    test('an undefined field exists, a missing one does not', async () => {
      const things = fixture.documents();
      const { _id } = await things.insert({ a: undefined, b: 1 });
      await fixture.reopen();
      const again = (await fixture.documents().get(_id)) as object;
      expect(Object.keys(again).slice(3)).toEqual(['a', 'b']);
    });

    test('an object may occur twice', async () => {
      const shared = { n: 1 };
      const things = fixture.documents();
      const { _id } = await things.insert({ a: shared, b: [shared, shared] });
      expect(await things.get(_id)).toMatchObject({ a: { n: 1 }, b: [{ n: 1 }, { n: 1 }] });
    });

    test('values may be nested a hundred levels deep', async () => {
      const nested = (depth: number): unknown => (depth === 0 ? 'core' : { in: nested(depth - 1) });
      const things = fixture.documents();
      const { _id } = await things.insert({ nested: nested(100), at: new Date(1) });
      await fixture.reopen();
      expect(await fixture.documents().get(_id)).toMatchObject({ nested: nested(100) });
    });

    test('keys with names of Object.prototype are ordinary keys', async () => {
      const things = fixture.documents();
      const fields = { constructor: 1, prototype: { a: 2 }, toString: 'x', hasOwnProperty: null };
      const { _id } = await things.insert({ ...fields, at: new Date(1), inside: fields });
      await fixture.reopen();
      const again = (await fixture.documents().get(_id)) as Record<string, unknown>;
      expect(Object.entries(again).slice(3, 7)).toEqual(Object.entries(fields));
      expect(Object.entries(again.inside as object)).toEqual(Object.entries(fields));
      expect(await fixture.documents().has({ 'prototype.a': 2 })).toBe(true);
    });
  });
}
