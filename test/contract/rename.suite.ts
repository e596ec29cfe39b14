import { describe, expect, test } from 'vitest';
import type { ClientFixture } from './client-fixture.ts';
import { rejection } from './outcomes.ts';

/** renameCollection(): all of a collection gets another name. */
export function renameSuite(fixture: ClientFixture): void {
  const rename = (from: string, to: string) =>
    fixture.db.renameCollection(fixture.nameOf(from), fixture.nameOf(to));

  describe('renameCollection', () => {
    test('keeps documents, order, stamps, indexes and backups', async () => {
      const indexes = [{ fields: 'n', unique: true }];
      const options = { indexes, indicate_created_at: true, indicate_updated_at: true };
      const old = fixture.documents({ name: 'old', ...options });
      await old.insertMany(Array.from({ length: 300 }, (_, n) => ({ _id: `n${n}`, n })));
      await old.save();
      const backup = await old.createBackup({ label: 'mine' });
      await old.patch('n7', { n: 1007 });
      await old.delete('n8');
      await old.archive('n9');
      const before = await old.filter({}, { archived: true });
      expect(await rename('old', 'new')).toBeUndefined();
      for (const isReopened of [false, true]) {
        if (isReopened && fixture.kind.storage === 'memory') break;
        if (isReopened) await fixture.reopen();
        const anew = fixture.documents({ name: 'new', ...options });
        expect(await anew.filter({}, { archived: true })).toEqual(before);
        expect((await rejection(anew.insert({ n: 1007 }))).code).toBe('unique_violation');
        expect(await anew.listBackups()).toMatchObject([{ name: backup, label: 'mine' }]);
        expect(await fixture.documents({ name: 'old' }).count()).toBe(0);
      }
      const anew = fixture.documents({ name: 'new', ...options });
      await anew.loadBackup(backup);
      expect(await anew.count()).toBe(300);
      expect(await anew.get('n7')).toMatchObject({ n: 7 });
    });

    test('works for a collection that nobody has opened, and with changes afterwards', async () => {
      const values = fixture.keyValues({ name: 'old' });
      await values.set('a', { text: 'x'.repeat(200_000) });
      await values.set('b', 2);
      await values.save();
      if (fixture.kind.storage !== 'memory') await fixture.reopen();
      await rename('old', 'new');
      const anew = fixture.keyValues({ name: 'new' });
      await anew.set('c', 3);
      if (fixture.kind.storage !== 'memory') await fixture.reopen();
      const last = fixture.keyValues({ name: 'new' });
      expect(await last.keys()).toEqual(['a', 'b', 'c']);
      expect(await last.get('a')).toEqual({ text: 'x'.repeat(200_000) });
    });

    test('handles and live queries of the old name reject with collection_renamed', async () => {
      const old = fixture.documents({ name: 'old' });
      const other = fixture.documents({ name: 'old' });
      await old.insert({ _id: 'a' });
      const live = other.live({});
      const errors: unknown[] = [];
      live.subscribe(({ error }) => error && errors.push(error));
      await live.ready;
      const unsaved = old.insert({ _id: 'b' });
      await rename('old', 'new');
      expect((await unsaved)._id).toBe('b');
      for (const call of [() => old.insert({}), () => other.count(), () => old.ready]) {
        const error = await rejection(call());
        expect(error instanceof fixture.lib.CollectionError).toBe(true);
        expect(error.code).toBe('collection_renamed');
        expect(error.message.includes(fixture.nameOf('new'))).toBe(true);
      }
      expect(errors).toMatchObject([{ code: 'collection_renamed' }]);
      expect(await fixture.documents({ name: 'new' }).count()).toBe(2);
    });

    test('frees the old name, also for the other type, and back', async () => {
      await fixture.documents({ name: 'a' }).insert({ _id: 'a' });
      await rename('a', 'b');
      const values = fixture.keyValues({ name: 'a' });
      await values.set('k', 1);
      await rename('b', 'c');
      await rename('a', 'b');
      expect(await fixture.keyValues({ name: 'b' }).entries()).toEqual([['k', 1]]);
      expect(await fixture.documents({ name: 'c' }).count()).toBe(1);
    });

    test('refuses names that are missing, taken, open or none, and changes nothing', async () => {
      const from = fixture.documents({ name: 'from' });
      await from.insert({ _id: 'a' });
      const taken = fixture.documents({ name: 'taken' });
      await taken.insert({ _id: 'b' });
      await fixture.keyValues({ name: 'other type' }).set('k', 1);
      await fixture.documents({ name: 'open' }).ready;
      for (const [one, other, code] of [
        ['missing', 'new', 'collection_missing'],
        ['from', 'taken', 'name_taken'],
        ['from', 'other type', 'name_taken'],
        ['from', 'open', 'name_taken'],
        ['from', 'from', 'option_invalid'],
      ] as const)
        expect((await rejection(rename(one, other))).code, `${one} → ${other}`).toBe(code);
      if (fixture.kind.storage !== 'memory') {
        await fixture.reopen();
        expect((await rejection(rename('from', 'taken'))).code).toBe('name_taken');
      }
      const { db } = fixture;
      const name = fixture.nameOf('from');
      for (const bad of ['', 'x'.repeat(129), 7]) {
        const wrong = bad as string;
        expect((await rejection(db.renameCollection(name, wrong))).code).toBe('option_invalid');
        expect((await rejection(db.renameCollection(wrong, name))).code).toBe('option_invalid');
      }
      expect(await fixture.documents({ name: 'from' }).count()).toBe(1);
      expect(await fixture.documents({ name: 'taken' }).count()).toBe(1);
    });

    test('what constructs the new name meanwhile waits', async () => {
      const old = fixture.documents({ name: 'old' });
      await old.insertMany([{}, {}]);
      await old.save();
      const renamed = rename('old', 'new');
      await renamed;
      const anew = fixture.documents({ name: 'new' });
      expect(await anew.count()).toBe(2);
    });
  });
}
