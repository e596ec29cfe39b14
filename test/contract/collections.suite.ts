import { describe, expect, test } from 'vitest';
import type { ClientFixture } from './client-fixture.ts';

/** collections(): what is stored, opened or not. */
export function collectionsSuite(fixture: ClientFixture): void {
  const listed = async () => {
    const prefix = fixture.nameOf('');
    const all = await fixture.db.collections();
    return all.filter(({ name }) => name.startsWith(prefix));
  };

  describe('collections', () => {
    test('lists open ones by name, with unsaved changes', async () => {
      const values = fixture.keyValues({ name: 'b' });
      const things = fixture.documents({ name: 'a', save_timeout: 3600, save_directly_after: 1e6 });
      await things.insertMany([{ _id: 'x' }, { _id: 'y' }]);
      await things.archive('x');
      await things.delete('y');
      await values.set('k', 1);
      await values.createBackup();
      fixture.documents({ name: 'constructed, never written to' });
      expect(await listed()).toMatchObject([
        { name: fixture.nameOf('a'), type: 'DOCUMENT_BASED', documents: 1, backups: 0, open: true },
        {
          name: fixture.nameOf('b'),
          type: 'KEY_VALUE_BASED',
          documents: 1,
          backups: 1,
          open: true,
        },
      ]);
    });

    test('lists those that nobody has opened, with the same counts', async () => {
      const things = fixture.documents({ name: 'a' });
      await things.insertMany(Array.from({ length: 300 }, (_, n) => ({ _id: `n${n}`, n })));
      await things.save();
      await things.patchMany({ n: { $lt: 100 } }, { $inc: { n: 1000 } });
      await things.deleteMany({ n: { $lt: 150 } });
      await things.save();
      const dropped = fixture.documents({ name: 'b', activate_drop_method: true });
      await dropped.insert({});
      await dropped.save();
      await dropped.Drop();
      const before = await listed();
      expect(before).toMatchObject([{ name: things.name, documents: 250, open: true }]);
      expect(before[0]?.bytes).toBeGreaterThan(1000);
      if (fixture.kind.storage === 'memory') return;
      await fixture.reopen();
      expect(await listed()).toEqual([{ ...before[0], open: false }]);
    });

    test('is empty where nothing is stored', async () => {
      await fixture.renew();
      expect(await fixture.db.collections()).toEqual([]);
    });
  });
}
