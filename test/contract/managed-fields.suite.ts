import { describe, expect, test } from 'vitest';
import type { ClientFixture } from './client-fixture.ts';
import { MANAGED_FIELDS } from './outcomes.ts';

const EVERY_STAMP = {
  indicate_created_at: true,
  indicate_created_timestamp: true,
  indicate_updated_at: true,
  indicate_updated_timestamp: true,
  indicate_archived_at: true,
  indicate_archived_timestamp: true,
  indicate_unarchived_at: true,
  indicate_unarchived_timestamp: true,
};

/** Ids, states and stamps. */
export function managedFieldsSuite(fixture: ClientFixture): void {
  describe('managed fields', () => {
    test('come first in fixed order, then the fields of the caller in theirs', async () => {
      const things = fixture.documents(EVERY_STAMP);
      const { _id } = await things.insert({
        zebra: 1,
        _archived_at: new Date(0),
        apple: 2,
        _id: 'a',
        _x: 3,
      });
      await things.update(_id, { zebra: 1, apple: 2, _created_at: new Date(0), _x: 3 });
      await things.archive(_id);
      await things.unarchive(_id);
      const keys = [...MANAGED_FIELDS, 'zebra', 'apple', '_x'];
      expect(Object.keys((await things.get(_id)) as object)).toEqual(keys);
      expect(Object.keys((await things.find({ zebra: 1 })) as object)).toEqual(keys);
      expect(Object.keys((await things.find(() => true)) as object)).toEqual(keys);
      await fixture.reopen();
      const again = await fixture.documents(EVERY_STAMP).get(_id);
      expect(Object.keys(again as object)).toEqual(keys);
    });

    test('have no stamps unless these are enabled', async () => {
      const things = fixture.documents();
      const { _id } = await things.insert({});
      await things.update(_id, {});
      await things.archive(_id);
      await things.unarchive(_id);
      expect(Object.keys((await things.get(_id)) as object)).toEqual([
        '_id',
        '_updated',
        '_archived',
      ]);
    });

    for (const stamp of ['created', 'updated', 'archived', 'unarchived']) {
      for (const form of ['at', 'timestamp']) {
        test(`indicate_${stamp}_${form} adds _${stamp}_${form} and nothing else`, async () => {
          const things = fixture.documents({ [`indicate_${stamp}_${form}`]: true });
          const before = Date.now();
          const { _id } = await things.insert({});
          await things.update(_id, {});
          await things.archive(_id);
          await things.unarchive(_id);
          const after = Date.now();
          const document = (await things.get(_id)) as Record<string, unknown>;
          const field = `_${stamp}_${form}`;
          expect(Object.keys(document).slice(3)).toEqual([field]);
          const value = document[field];
          expect(form === 'at' ? value instanceof Date : typeof value === 'number').toBe(true);
          expect(Number(value) >= before && Number(value) <= after).toBe(true);
        });
      }
    }

    test('a date and its timestamp name the same instant', async () => {
      const things = fixture.documents(EVERY_STAMP);
      const { _id } = await things.insert({});
      await things.update(_id, {});
      await things.archive(_id);
      await things.unarchive(_id);
      const document = (await things.get(_id)) as Record<string, unknown>;
      for (const stamp of ['created', 'updated', 'archived', 'unarchived']) {
        const date = document[`_${stamp}_at`] as Date;
        expect(date.getTime()).toBe(document[`_${stamp}_timestamp`]);
      }
    });

    test('insert sets only the stamp of creation', async () => {
      const document = await fixture.documents(EVERY_STAMP).insert({});
      expect(Object.keys(document).slice(3)).toEqual(['_created_at', '_created_timestamp']);
    });

    test('insertMany, upsert and patch set stamps, too', async () => {
      const things = fixture.documents(EVERY_STAMP);
      const [first] = await things.insertMany([{}]);
      expect(Object.keys(first as object).slice(3)).toEqual(['_created_at', '_created_timestamp']);
      const id = first?._id as string;
      const patched = await things.patch(id, { a: 1 });
      expect(patched?._updated).toBe(true);
      expect(typeof patched?._updated_timestamp).toBe('number');
      const replaced = await things.upsert({ _id: id, a: 2 });
      expect(replaced._updated).toBe(true);
      expect(replaced._created_timestamp).toBe(first?._created_timestamp);
    });

    test('indicate_edited_* is an alias of indicate_updated_*', async () => {
      const things = fixture.documents({
        indicate_edited_at: true,
        indicate_edited_timestamp: true,
        indicate_updated_at: true,
      });
      const { _id } = await things.insert({});
      const document = await things.update(_id, {});
      expect(Object.keys(document as object).slice(3)).toEqual([
        '_updated_at',
        '_updated_timestamp',
      ]);
    });

    test('an earlier stamp stays in the next state', async () => {
      const things = fixture.documents(EVERY_STAMP);
      const { _id } = await things.insert({});
      await things.archive(_id);
      const archived = await things.get(_id);
      await things.unarchive(_id);
      const unarchived = await things.get(_id);
      expect(unarchived?._archived_at).toEqual(archived?._archived_at);
      expect(unarchived?._unarchived_at instanceof Date).toBe(true);
      await things.archive(_id);
      expect((await things.get(_id))?._unarchived_at).toEqual(unarchived?._unarchived_at);
    });

    test('stamps survive a reload', async () => {
      const things = fixture.documents(EVERY_STAMP);
      const { _id } = await things.insert({});
      await things.update(_id, { a: 1 });
      await things.archive(_id);
      const before = await things.get(_id);
      await fixture.reopen();
      expect(await fixture.documents(EVERY_STAMP).get(_id)).toEqual(before);
    });

    test('values of the caller are ignored: a found document can be passed back', async () => {
      const things = fixture.documents<{ n: number }, '_created_at'>({ indicate_created_at: true });
      const stored = await things.insert({
        n: 1,
        _updated: true,
        _archived: true,
        _created_at: new Date(0),
        _created_timestamp: 0,
        _updated_at: new Date(0),
        _unarchived_timestamp: 4,
      });
      expect(stored).toMatchObject({ _updated: false, _archived: false });
      expect(stored._created_at.getTime() > 0).toBe(true);
      expect(Object.keys(stored)).toEqual(['_id', '_updated', '_archived', '_created_at', 'n']);
      const updated = await things.update(stored._id, { ...stored, _id: 'other', n: 2 });
      expect(updated).toEqual({ ...stored, _updated: true, n: 2 });
      expect(await things.get('other')).toBe(undefined);
    });

    test('update ignores an _id in the document', async () => {
      const things = fixture.documents<{ n: number }>();
      const { _id } = await things.insert({ n: 1 });
      expect(await things.update(_id, { _id: 5 as never, n: 2 })).toMatchObject({ _id, n: 2 });
      expect(await things.update(_id, { _id: '', n: 3 })).toMatchObject({ _id, n: 3 });
    });

    test('generated ids have the given length and only letters, digits and _', async () => {
      for (const [id_length, length] of [
        [undefined, 32],
        [4, 4],
        [256, 256],
      ] as const) {
        const things = fixture.documents({ name: `ids ${length}`, id_length });
        const stored = await things.insertMany(Array.from({ length: 200 }, () => ({})));
        const ids = stored.map(({ _id }) => _id);
        expect(ids.every((id) => id.length === length && /^\w+$/.test(id))).toBe(true);
        expect(new Set(ids).size).toBe(200);
      }
    });

    test('archive and unarchive return whether they changed something', async () => {
      const things = fixture.documents();
      const { _id } = await things.insert({});
      expect(await things.unarchive(_id)).toBe(false);
      expect(await things.archive(_id)).toBe(true);
      expect((await things.get(_id))?._archived).toBe(true);
      expect(await things.archive(_id)).toBe(false);
      await fixture.reopen();
      const again = fixture.documents();
      expect((await again.get(_id))?._archived).toBe(true);
      expect(await again.unarchive(_id)).toBe(true);
      expect((await again.get(_id))?._archived).toBe(false);
      expect(await again.archive('nobody')).toBe(false);
      expect(await again.unarchive('nobody')).toBe(false);
    });

    test('archiving sets no stamp of an update', async () => {
      const things = fixture.documents(EVERY_STAMP);
      const { _id } = await things.insert({ a: 1 });
      await things.archive(_id);
      expect(await things.get(_id)).toMatchObject({ _updated: false, a: 1 });
      expect((await things.get(_id))?._updated_at).toBe(undefined);
    });
  });
}
