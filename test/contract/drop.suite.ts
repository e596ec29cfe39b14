import { describe, expect, test } from 'vitest';
import type { ClientFixture } from './client-fixture.ts';
import { rejection } from './outcomes.ts';

const active = { activate_drop_method: true };

/** Drop(): only if it is enabled. */
export function dropSuite(fixture: ClientFixture): void {
  describe('Drop', () => {
    test('rejects unless it is enabled, and touches nothing', async () => {
      const things = fixture.documents();
      await things.insert({ _id: 'a' });
      const error = await rejection(things.Drop());
      expect(error instanceof fixture.lib.CollectionError).toBe(true);
      expect(error.code).toBe('drop_disabled');
      expect(error.message.includes('activate_drop_method')).toBe(true);
      const values = fixture.keyValues({ activate_drop_method: false });
      await values.set('a', 1);
      await expect(values.Drop()).rejects.toMatchObject({ code: 'drop_disabled' });
      expect(await things.insert({ _id: 'b' })).toMatchObject({ _id: 'b' });
      await fixture.reopen();
      expect(await fixture.documents().count()).toBe(2);
      expect(await fixture.keyValues().get('a')).toBe(1);
    });

    test('removes the collection; its handles then reject', async () => {
      const things = fixture.documents(active);
      const other = fixture.documents();
      await things.insertMany([{}, {}]);
      await things.save();
      await things.insert({});
      expect(await things.Drop()).toBe(true);
      for (const call of [
        () => things.count(),
        () => things.insert({}),
        () => things.insertMany([{}]),
        () => things.filter(() => true),
        () => things.save(),
        () => things.ready,
        () => things.Drop(),
        () => other.count(),
        () => other.insert({}),
      ]) {
        const error = await rejection(call());
        expect(error instanceof fixture.lib.CollectionError).toBe(true);
        expect(error.code).toBe('collection_dropped');
      }
    });

    test('constructing the collection again starts empty, after calls in flight', async () => {
      const things = fixture.documents(active);
      await things.insert({ _id: 'a' });
      const inserted = things.insertMany([{ _id: 'b' }]);
      const dropped = things.Drop();
      const again = fixture.keyValues({ name: 'things' });
      const set = again.set('c', 1);
      expect((await inserted).length).toBe(1);
      expect(await dropped).toBe(true);
      expect(await set).toBe(1);
      expect(await again.entries()).toEqual([['c', 1]]);
    });

    test('constructing the collection again starts empty', async () => {
      const things = fixture.documents(active);
      await things.insert({ _id: 'a' });
      await things.Drop();
      const again = fixture.documents();
      expect(await again.count()).toBe(0);
      expect(await again.insert({ _id: 'a', n: 2 })).toMatchObject({ _id: 'a', n: 2 });
      await fixture.reopen();
      expect(await fixture.documents().count()).toBe(1);
    });

    test('the collection can be constructed again before Drop() resolves', async () => {
      const things = fixture.documents(active);
      await things.insert({ _id: 'a' });
      await things.save();
      const dropping = things.Drop();
      const again = fixture.documents();
      const inserting = again.insert({ _id: 'b' });
      expect(await dropping).toBe(true);
      expect((await inserting)._id).toBe('b');
      expect((await again.filter({})).map(({ _id }) => _id)).toEqual(['b']);
    });

    test('is permanent', async () => {
      const things = fixture.documents(active);
      await things.insert({});
      await things.save();
      await things.Drop();
      await fixture.reopen();
      expect(await fixture.documents().count()).toBe(0);
    });

    test('frees the name for the other type', async () => {
      const things = fixture.documents({ ...active, name: 'a' });
      await things.insert({});
      await things.Drop();
      const values = fixture.keyValues({ ...active, name: 'a' });
      await values.set('k', 1);
      await fixture.reopen();
      const again = fixture.keyValues({ ...active, name: 'a' });
      expect(await again.entries()).toEqual([['k', 1]]);
      expect(await again.Drop()).toBe(true);
      expect(await fixture.documents({ name: 'a' }).count()).toBe(0);
    });

    test('does not touch other collections', async () => {
      const names = ['a', 'ab', 'a/b', 'A'];
      for (const name of names) await fixture.documents({ name, ...active }).insert({ name });
      await fixture.db.save();
      await fixture.documents({ name: 'a', ...active }).Drop();
      await fixture.reopen();
      for (const name of names) {
        expect(await fixture.documents({ name }).count()).toBe(name === 'a' ? 0 : 1);
      }
    });

    test('earlier calls take effect, later calls reject', async () => {
      const things = fixture.documents(active);
      const [inserted, counted, dropped, late] = await Promise.all([
        things.insert({}),
        things.count(),
        things.Drop(),
        rejection(things.count()),
      ]);
      expect(typeof inserted._id).toBe('string');
      expect([counted, dropped, late.code]).toEqual([1, true, 'collection_dropped']);
    });
  });
}
