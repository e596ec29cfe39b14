import { describe, expect, test } from 'vitest';
import type { ClientFixture } from './client-fixture.ts';
import { own } from './outcomes.ts';

interface Thing {
  name: string;
  n?: number;
}

/** insert, get, update, upsert, patch, delete and the methods for many. */
export function documentsSuite(fixture: ClientFixture): void {
  describe('documents', () => {
    test('insert returns the stored document', async () => {
      const things = fixture.documents<Thing>();
      const document = await things.insert({ name: 'a', n: 1 });
      expect(document).toEqual({
        _id: document._id,
        _updated: false,
        _archived: false,
        name: 'a',
        n: 1,
      });
      expect(await things.get(document._id)).toEqual(document);
    });

    test('a document without fields of its own can be stored', async () => {
      const things = fixture.documents();
      const document = await things.insert({});
      expect(Object.keys(document)).toEqual(['_id', '_updated', '_archived']);
      expect(await things.count()).toBe(1);
    });

    test('documents survive a reload, in their order', async () => {
      const things = fixture.documents<Thing>();
      const first = await things.insert({ name: 'a' });
      const more = await things.insertMany([{ name: 'b' }, { name: 'c' }]);
      await fixture.reopen();
      expect(await fixture.documents<Thing>().filter({})).toEqual([first, ...more]);
    });

    test('insert honours an _id', async () => {
      const things = fixture.documents<Thing>();
      expect((await things.insert({ _id: 'mine', name: 'a' }))._id).toBe('mine');
      expect(await things.get('mine')).toMatchObject({ _id: 'mine', name: 'a' });
    });

    test('insertMany returns the stored documents in their order', async () => {
      const things = fixture.documents<Thing>();
      const stored = await things.insertMany([{ name: 'a' }, { _id: 'b', name: 'b' }]);
      expect(own(stored)).toEqual([{ name: 'a' }, { name: 'b' }]);
      expect(stored[1]?._id).toBe('b');
      expect(await things.filter({})).toEqual(stored);
      expect(await things.insertMany([])).toEqual([]);
    });

    test('insertMany takes more documents than fit into one message', async () => {
      const things = fixture.documents<{ n: number; text: string }>();
      const text = 'x'.repeat(1000);
      const stored = await things.insertMany(Array.from({ length: 3000 }, (_, n) => ({ n, text })));
      expect(stored.map(({ n }) => n)).toEqual(Array.from({ length: 3000 }, (_, n) => n));
      await fixture.reopen();
      const again = fixture.documents<{ n: number; text: string }>();
      expect(await again.count()).toBe(3000);
      expect((await again.filter({})).map(({ n }) => n)).toEqual(stored.map(({ n }) => n));
    });

    test('insertMany stores no document if one is invalid', async () => {
      const things = fixture.documents<Thing>();
      await things.insert({ _id: 'a', name: 'a' });
      const taken = things.insertMany([{ name: 'b' }, { _id: 'a', name: 'c' }, { name: 'd' }]);
      await expect(taken).rejects.toMatchObject({ code: 'id_taken' });
      const twice = things.insertMany([
        { _id: 'x', name: 'b' },
        { _id: 'x', name: 'c' },
      ]);
      await expect(twice).rejects.toMatchObject({ code: 'id_taken' });
      const bad = things.insertMany([{ name: 'b' }, { name: (() => 1) as never }]);
      await expect(bad).rejects.toMatchObject({ place: 'documents[1].name' });
      expect(own(await things.filter({}))).toEqual([{ name: 'a' }]);
    });

    test('insertMany stores no document if one in a later message is invalid', async () => {
      const things = fixture.documents<Thing>();
      await things.insert({ _id: 'taken', name: 'a' });
      const many: (Thing & { _id?: string })[] = Array.from({ length: 2000 }, (_, n) => ({
        name: `${n} ${'x'.repeat(1000)}`,
      }));
      const last = many.length - 1;
      const taken = things.insertMany(many.with(last, { _id: 'taken', name: 'b' }));
      await expect(taken).rejects.toMatchObject({ code: 'id_taken' });
      const bad = things.insertMany(many.with(last, { name: Symbol('no') as never }));
      await expect(bad).rejects.toMatchObject({ place: `documents[${last}].name` });
      expect(await things.count()).toBe(1);
      expect(await things.insertMany(many).then((stored) => stored.length)).toBe(2000);
    });

    test('get returns archived documents, too, and undefined for an unknown id', async () => {
      const things = fixture.documents<Thing>();
      const { _id } = await things.insert({ name: 'a' });
      await things.archive(_id);
      expect(await things.get(_id)).toMatchObject({ _id, _archived: true });
      expect(await things.get('nobody')).toBe(undefined);
      expect(await things.get('__proto__')).toBe(undefined);
      expect(await things.get('constructor')).toBe(undefined);
    });

    test('update replaces the fields of the caller', async () => {
      const things = fixture.documents<Thing>();
      const { _id } = await things.insert({ name: 'a', n: 1 });
      const updated = await things.update(_id, { name: 'b' });
      expect(updated).toEqual({ _id, _updated: true, _archived: false, name: 'b' });
      expect('n' in (updated as object)).toBe(false);
      await fixture.reopen();
      expect(await fixture.documents<Thing>().get(_id)).toEqual(updated);
    });

    test('update works on an archived document and leaves it archived', async () => {
      const things = fixture.documents<Thing>();
      const { _id } = await things.insert({ name: 'a' });
      await things.archive(_id);
      expect(await things.update(_id, { name: 'b' })).toMatchObject({ _archived: true, name: 'b' });
    });

    test('update of an unknown id resolves with undefined and stores nothing', async () => {
      const things = fixture.documents<Thing>();
      expect(await things.update('nobody', { name: 'a' })).toBe(undefined);
      expect(await things.count({}, { archived: true })).toBe(0);
    });

    test('upsert inserts under the given _id, then replaces', async () => {
      const things = fixture.documents<Thing>();
      const first = await things.upsert({ _id: 'a', name: 'a', n: 1 });
      expect(first).toEqual({ _id: 'a', _updated: false, _archived: false, name: 'a', n: 1 });
      const second = await things.upsert({ _id: 'a', name: 'b' });
      expect(second).toEqual({ _id: 'a', _updated: true, _archived: false, name: 'b' });
      expect('n' in second).toBe(false);
      expect(await things.filter({})).toEqual([second]);
    });

    test('upsert without an _id inserts', async () => {
      const things = fixture.documents<Thing>();
      const stored = await things.upsert({ name: 'a' });
      expect(stored._id.length).toBe(32);
      expect(await things.get(stored._id)).toEqual(stored);
    });

    test('delete removes, once', async () => {
      const things = fixture.documents<Thing>();
      const { _id } = await things.insert({ name: 'a' });
      expect(await things.delete(_id)).toBe(true);
      expect(await things.get(_id)).toBe(undefined);
      expect(await things.delete(_id)).toBe(false);
      expect(await things.delete('nobody')).toBe(false);
      await fixture.reopen();
      expect(await fixture.documents().get(_id)).toBe(undefined);
    });

    test('a document saved, deleted and inserted again counts as new', async () => {
      const things = fixture.documents<Thing>();
      await things.insertMany([
        { _id: 'a', name: 'a' },
        { _id: 'b', name: 'b' },
      ]);
      await things.save();
      await things.delete('a');
      await things.insert({ _id: 'a', name: 'again' });
      expect(own(await things.filter({}))).toEqual([{ name: 'b' }, { name: 'again' }]);
      await fixture.reopen();
      const again = fixture.documents<Thing>();
      expect(own(await again.filter({}))).toEqual([{ name: 'b' }, { name: 'again' }]);
    });

    test('deleteMany resolves with the number of removed documents', async () => {
      const things = fixture.documents<Thing>();
      await things.insertMany([1, 2, 3, 4].map((n) => ({ name: 'a', n })));
      expect(await things.deleteMany({ n: { $gt: 3 } })).toBe(1);
      expect(await things.deleteMany(({ n }) => n === 1)).toBe(1);
      expect(await things.deleteMany({ n: 9 })).toBe(0);
      expect(own(await things.filter({}))).toEqual([
        { name: 'a', n: 2 },
        { name: 'a', n: 3 },
      ]);
      expect(await things.deleteMany({})).toBe(2);
      await fixture.reopen();
      expect(await fixture.documents().count()).toBe(0);
    });

    test('an update does not change the order of insertion', async () => {
      const things = fixture.documents<Thing>();
      await things.insertMany(['a', 'b', 'c'].map((name) => ({ _id: name, name })));
      await things.save();
      await things.update('a', { name: 'A' });
      await things.archive('b');
      await things.unarchive('b');
      const names = ['A', 'b', 'c'];
      expect((await things.filter({})).map(({ name }) => name)).toEqual(names);
      expect((await things.filter(() => true)).map(({ name }) => name)).toEqual(names);
      await fixture.reopen();
      const again = fixture.documents<Thing>();
      expect((await again.filter({})).map(({ name }) => name)).toEqual(names);
      expect(await again.find({})).toMatchObject({ name: 'A' });
    });
  });
}
