import { describe, expect, test } from 'vitest';
import type { DocumentCollection } from '../../src/index.ts';
import type { ClientFixture } from './client-fixture.ts';
import { rejection } from './outcomes.ts';

class Money {
  amount = 5;
}
class Tags extends Set<string> {}
/** Like some polyfills. */
const FakeFile = class File {
  readonly [Symbol.toStringTag] = 'File';
  readonly text = () => Promise.resolve('');
};

const cycle = () => {
  const object: Record<string, unknown> = { n: 1 };
  object.again = { to: object };
  return object;
};
const listCycle = () => {
  const list: unknown[] = [1];
  list.push({ list });
  return list;
};
const ownProto = () => JSON.parse('{ "a": 1, "__proto__": { "polluted": true } }') as object;
const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);

/** Refused values, with the code of the error and the path to the offending part. */
const REFUSED: [string, () => unknown, string, string][] = [
  ['function', () => () => 1, 'value_unsupported', ''],
  ['function inside', () => ({ a: [1, { f: () => 1 }] }), 'value_unsupported', '.a[1].f'],
  ['class', () => ({ Money }), 'value_unsupported', '.Money'],
  ['symbol', () => Symbol('s'), 'value_unsupported', ''],
  ['symbol inside', () => [Symbol.iterator], 'value_unsupported', '[0]'],
  ['symbol as a key', () => ({ a: { [Symbol('s')]: 1 } }), 'value_unsupported', '.a'],
  ['class instance', () => new Money(), 'value_unsupported', ''],
  ['class instance inside', () => ({ price: new Money() }), 'value_unsupported', '.price'],
  ['subclass of a built-in', () => [new Tags()], 'value_unsupported', '[0]'],
  ['Error', () => new Error('no'), 'value_unsupported', ''],
  ['Promise', () => ({ p: Promise.resolve() }), 'value_unsupported', '.p'],
  ['WeakMap', () => new WeakMap(), 'value_unsupported', ''],
  ['URL', () => new URL('https://example.org'), 'value_unsupported', ''],
  ['function in a Map', () => new Map([['a', () => 1]]), 'value_unsupported', '.a'],
  ['symbol in a Set', () => new Set([1, Symbol('s')]), 'value_unsupported', '[1]'],
  ['cycle', cycle, 'value_cyclic', '.again.to'],
  ['cycle in an array', listCycle, 'value_cyclic', '[1].list'],
  ['own __proto__', ownProto, 'key_forbidden', '.__proto__'],
  ['own __proto__ inside', () => ({ a: [ownProto()] }), 'key_forbidden', '.a[0].__proto__'],
];

/** Every call that stores a value in a document, with the place of the value. */
function writesOf(
  things: DocumentCollection,
  make: () => unknown,
): [call: () => Promise<unknown>, place: string][] {
  return [
    [() => things.insert({ value: make() }), 'document.value'],
    [() => things.insertMany([{}, { value: make() }]), 'documents[1].value'],
    [() => things.upsert({ _id: 'a', value: make() }), 'document.value'],
    [() => things.update('a', { value: make() }), 'document.value'],
    [() => things.patch('a', { value: make() }), 'changes.value'],
  ];
}

/** Values that cannot be stored are refused with their path; the collection stays usable. */
export function refusedValuesSuite(fixture: ClientFixture): void {
  describe('refused values', () => {
    for (const [name, make, code, path] of REFUSED) {
      test(`in documents: ${name}`, async () => {
        const things = fixture.documents();
        const before = await things.insert({ _id: 'a', n: 1 });
        for (const [call, value] of writesOf(things, make)) {
          const place = value + path;
          const error = await rejection(call());
          expect(error instanceof fixture.lib.ValueError).toBe(true);
          expect(error).toMatchObject({ code, place });
          expect(error.message.includes(place)).toBe(true);
        }
        expect(await things.filter({})).toEqual([before]);
      });

      test(`in key-values: ${name}`, async () => {
        const values = fixture.keyValues();
        await values.set('a', [1]);
        for (const [call, place] of [
          [() => values.set('b', make()), `value${path}`],
          [() => values.set('a[0].b', make()), `value${path}`],
          [() => values.push('a', make()), `item${path}`],
        ] as const) {
          const error = await rejection(call());
          expect(error instanceof fixture.lib.ValueError).toBe(true);
          expect(error).toMatchObject({ code, place });
        }
        expect(await values.entries()).toEqual([['a', [1]]]);
      });
    }

    test('leave no trace after a reload', async () => {
      const things = fixture.documents();
      const before = await things.insert({ _id: 'a', n: 1 });
      for (const [, make] of REFUSED)
        for (const [call] of writesOf(things, make)) await rejection(call());
      await fixture.reopen();
      expect(await fixture.documents().filter({})).toEqual([before]);
    });

    test('a fake Blob does not block other saves', async () => {
      const things = fixture.documents();
      for (const blob of [Object.create(Blob.prototype), new FakeFile()]) {
        expect(await rejection(things.insert({ blob }))).toMatchObject({
          code: 'value_unsupported',
          place: 'document.blob',
        });
        expect(await rejection(things.filter({ blob }))).toMatchObject({
          code: 'criteria_invalid',
          place: 'params.blob',
        });
      }
      await things.insert({ _id: 'a' });
      await things.save();
      expect(await things.count()).toBe(1);
    });

    test('values nested too deep for the platform are refused', async () => {
      const things = fixture.documents();
      await expect(things.insert({ deep: nested(5000) })).rejects.toMatchObject({
        code: 'value_too_deep',
      });
      expect(await things.count()).toBe(0);
    });

    test('a document has to be a plain object', async () => {
      const things = fixture.documents();
      for (const document of [undefined, null, 5, 'a', true, [{}], new Date(0), new Money()]) {
        for (const call of [
          () => things.insert(document as never),
          () => things.upsert(document as never),
          () => things.update('a', document as never),
        ]) {
          await expect(call()).rejects.toMatchObject({
            code: 'document_invalid',
            place: 'document',
          });
        }
        await expect(things.insertMany([{}, document as never])).rejects.toMatchObject({
          code: 'document_invalid',
          place: 'documents[1]',
        });
      }
      await expect(things.insertMany({ 0: {} } as never)).rejects.toMatchObject({
        code: 'document_invalid',
      });
      expect(await things.count()).toBe(0);
    });

    test('an _id has to be a non-empty string', async () => {
      const things = fixture.documents();
      for (const id of ['', 5, null, {}, [], true]) {
        await expect(things.insert({ _id: id as never })).rejects.toMatchObject({
          code: 'id_invalid',
          place: 'document._id',
        });
        await expect(things.insertMany([{ _id: id as never }])).rejects.toMatchObject({
          code: 'id_invalid',
          place: 'documents[0]._id',
        });
      }
      for (const id of ['', 5, null, undefined, {}] as never[]) {
        for (const call of [
          () => things.get(id),
          () => things.update(id, {}),
          () => things.patch(id, {}),
          () => things.archive(id),
          () => things.unarchive(id),
          () => things.delete(id),
        ]) {
          await expect(call()).rejects.toMatchObject({ code: 'id_invalid', place: '_id' });
        }
      }
      expect(await things.count()).toBe(0);
    });

    test('a taken _id is refused, also of an archived document, and free after a delete', async () => {
      const things = fixture.documents();
      const before = await things.insert({ _id: 'a', n: 1 });
      const taken = await rejection(things.insert({ _id: 'a', n: 2 }));
      expect(taken instanceof fixture.lib.ValueError).toBe(true);
      expect(taken).toMatchObject({ code: 'id_taken' });
      expect(taken.message.includes('a')).toBe(true);
      expect(await things.get('a')).toEqual(before);
      await things.archive('a');
      await expect(things.insert({ _id: 'a' })).rejects.toMatchObject({ code: 'id_taken' });
      await things.delete('a');
      expect(await things.insert({ _id: 'a', n: 3 })).toMatchObject({ n: 3, _archived: false });
    });

    test('names what is refused beside managed fields', async () => {
      const things = fixture.documents();
      const _id = 'a';
      const withSymbol = things.insert({ _id, [Symbol('s')]: 1 });
      await expect(withSymbol).rejects.toMatchObject({ code: 'value_unsupported' });
      const withProto = things.insertMany([{ _id: 'b' }, { _id, ...ownProto() }]);
      await expect(withProto).rejects.toMatchObject({
        code: 'key_forbidden',
        place: 'documents[1].__proto__',
      });
      expect(await things.count()).toBe(0);
    });

    test('no call reaches a prototype', async () => {
      const things = fixture.documents();
      const { _id } = await things.insert({ a: {} });
      for (const path of ['__proto__.polluted', 'a.__proto__.polluted']) {
        const error = await rejection(things.patch(_id, { [path]: true }));
        expect(error instanceof fixture.lib.CairnError).toBe(true);
      }
      const own = JSON.parse('{ "__proto__": { "polluted": true } }') as object;
      expect((await rejection(things.patch(_id, own))) instanceof fixture.lib.CairnError).toBe(
        true,
      );
      await things.patch(_id, { 'constructor.prototype.polluted': true });
      await things.patch(_id, { 'a.constructor.prototype.polluted': true });
      const values = fixture.keyValues();
      await values.set('constructor.prototype.polluted', true);
      await values.set('a.constructor.prototype.polluted', true);
      await things.insert({ _id: '__proto__', polluted: true });
      await things.insert({ _id: 'constructor' });
      expect(({} as { polluted?: unknown }).polluted).toBe(undefined);
      expect(await things.get('__proto__')).toMatchObject({ polluted: true });
      expect(await values.get('constructor')).toEqual({ prototype: { polluted: true } });
      const again = (await things.get(_id)) as unknown as { a: object };
      expect(Object.keys(again.a)).toEqual(['constructor']);
    });
  });
}
