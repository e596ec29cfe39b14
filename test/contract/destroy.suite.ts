import { describe, expect, test } from 'vitest';
import type { ClientFixture } from './client-fixture.ts';
import { EventLog, rejection } from './outcomes.ts';

/** destroy(): the whole database, at once and for all clients. */
export function destroySuite(fixture: ClientFixture): void {
  describe('destroy', () => {
    test('deletes all collections with their backups; a new client starts with an empty database', async () => {
      await fixture.renew();
      const things = fixture.documents();
      const values = fixture.keyValues();
      await things.insert({ _id: 'a' });
      await values.set('k', 1);
      await things.createBackup();
      await fixture.db.save();
      await things.insert({ _id: 'unsaved' });
      expect(await fixture.db.destroy()).toBeUndefined();
      await fixture.reopen();
      expect(await fixture.documents().count({}, { archived: true })).toBe(0);
      expect(await fixture.documents().listBackups()).toEqual([]);
      expect(await fixture.keyValues().entries()).toEqual([]);
      await fixture.documents().insert({ _id: 'b' });
      await fixture.reopen();
      const kept = await fixture.documents().filter({});
      // What is in memory only is gone after a reload.
      if (fixture.kind.storage !== 'memory') expect(kept.map(({ _id }) => _id)).toEqual(['b']);
      await fixture.renew();
    });

    test('makes every later call of the client reject with database_destroyed', async () => {
      const db = await fixture.renew();
      const things = fixture.documents();
      const live = things.live({});
      const errors: unknown[] = [];
      live.subscribe(({ error }) => error && errors.push(error));
      await live.ready;
      await db.destroy();
      for (const call of [
        () => things.insert({}),
        () => things.count(),
        () => things.ready,
        () => things.save(),
        () => fixture.documents({ name: 'other' }).count(),
        () => db.save(),
        () => db.ready,
        () => db.exportAll(),
        () => db.transaction(() => undefined),
        () => db.storage.estimate(),
      ]) {
        const error = await rejection(call());
        expect(error instanceof fixture.lib.StorageError).toBe(true);
        expect(error.code).toBe('database_destroyed');
        expect(error.message.includes(db.name)).toBe(true);
      }
      expect(errors).toMatchObject([{ code: 'database_destroyed' }]);
      expect(db.status.state).toBe('closed');
      await db.close();
      await fixture.renew();
    });

    test('may be called again, and at once with others', async () => {
      const db = await fixture.renew();
      await fixture.documents().insert({});
      await Promise.all([db.destroy(), db.destroy()]);
      await db.destroy();
      await fixture.reopen();
      await fixture.documents().insert({ _id: 'new' });
      // The database that it deleted is gone: it does not delete another.
      await db.destroy();
      expect(await fixture.documents().count()).toBe(1);
      await fixture.renew();
    });

    test('calls in flight settle', async () => {
      const db = await fixture.renew();
      const things = fixture.documents();
      const calls = [things.insert({}), things.count(), db.save()];
      const destroyed = db.destroy();
      await Promise.allSettled(calls);
      await destroyed;
      await fixture.reopen();
      expect(await fixture.documents().count()).toBe(0);
      await fixture.renew();
    });

    test('refuses to keep a backup, and deletes nothing then', async () => {
      const db = await fixture.renew();
      await fixture.documents().insert({ _id: 'a' });
      const destroy = db.destroy.bind(db) as (options: object) => Promise<void>;
      expect(await rejection(destroy({ backup: true }))).toMatchObject({
        code: 'option_unknown',
        place: 'backup',
      });
      expect(await fixture.documents().count()).toBe(1);
    });

    test('works before the first call, and not after a close', async () => {
      const before = await fixture.renew();
      await before.destroy();
      const db = await fixture.renew();
      await db.close();
      expect((await rejection(db.destroy())).code).toBe('closed');
      await fixture.renew();
    });

    test('ends the other clients of the database', async () => {
      const db = await fixture.renew();
      const mine = fixture.documents();
      await mine.insert({ _id: 'a' });
      const other = fixture.kind.make(db.name);
      const theirs = new other.Collection({ name: mine.name, type: 'DOCUMENT_BASED' });
      await theirs.insert({ _id: 'b' });
      const isOwn = (await mine.count()) === 1;
      const log = new EventLog(other, 'status');
      await db.destroy();
      if (isOwn) {
        // Each has a memory of its own.
        expect(await theirs.count()).toBe(1);
      } else {
        await log.until(() => other.status.state === 'failed');
        expect(other.status.last_error).toMatchObject({ code: 'database_destroyed' });
        expect((await rejection(theirs.insert({}))).code).toBe('database_destroyed');
      }
      await other.close();
      await fixture.reopen();
      expect(await fixture.documents().count()).toBe(0);
      await fixture.renew();
    });
  });
}
