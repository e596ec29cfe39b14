import { describe, expect, test } from 'vitest';
import type { ClientFixture } from './client-fixture.ts';
import { LiveLog } from './live-log.ts';
import { EventLog, rejection } from './outcomes.ts';

/** createBackup, listBackups, loadBackup, deleteBackup, verify. */
export function backupsSuite(fixture: ClientFixture): void {
  describe('backups', () => {
    test('restore the documents of a collection, stamps and archive included', async () => {
      const things = fixture.documents({ indicate_created_at: true, indexes: ['n'] });
      await things.insertMany([
        { _id: 'a', n: 1 },
        { _id: 'b', n: 2, when: new Date(5) },
        { _id: 'c', n: 3 },
      ]);
      await things.archive('b');
      const before = await things.filter({}, { archived: true });
      const name = await things.createBackup({ label: 'mine' });
      await things.update('a', { n: 10 });
      await things.delete('b');
      await things.insert({ _id: 'd', n: 2 });
      expect(await things.loadBackup(name)).toBe(true);
      expect(await things.filter({}, { archived: true })).toEqual(before);
      expect(await things.filter({ n: { $gt: 1 } }, { archived: true, sort: { n: -1 } })).toEqual(
        before.slice(1).reverse(),
      );
      await things.insert({ _id: 'e', n: 4 });
      await fixture.reopen();
      const again = fixture.documents({ indicate_created_at: true, indexes: ['n'] });
      expect(await again.filter({}, { archived: true })).toMatchObject([...before, { _id: 'e' }]);
    });

    test('work for keys and values', async () => {
      const values = fixture.keyValues();
      await values.set('a.b', 1);
      const name = await values.createBackup();
      await values.set('a.b', 2);
      await values.set('c', new Map([[1, 2]]));
      await values.loadBackup(name);
      expect(await values.entries()).toEqual([['a', { b: 1 }]]);
      const [undo] = await values.listBackups();
      await values.loadBackup(undo?.name as string);
      expect(await values.get('c')).toEqual(new Map([[1, 2]]));
      expect(await values.get('a')).toEqual({ b: 2 });
    });

    test('contain all earlier changes and no later ones', async () => {
      const things = fixture.documents();
      void things.insert({ _id: 'a' });
      const creating = things.createBackup();
      void things.insert({ _id: 'b' });
      const loading = things.loadBackup(await creating);
      void things.insert({ _id: 'c' });
      await loading;
      expect((await things.filter({})).map(({ _id }) => _id)).toEqual(['a', 'c']);
    });

    test('are listed newest first', async () => {
      const things = fixture.documents({ backup_retention_time: 2 });
      expect(await things.listBackups()).toEqual([]);
      await things.insertMany([{}, {}]);
      const began = Date.now();
      const first = await things.createBackup({ label: 'first' });
      await things.insert({});
      const second = await things.createBackup();
      expect(second).not.toBe(first);
      const list = await things.listBackups();
      expect(list).toMatchObject([
        { name: second, label: undefined, documents: 3, automatic: false },
        { name: first, label: 'first', documents: 2, automatic: false },
      ]);
      for (const { created_at, expires_at, bytes } of list) {
        expect(created_at.getTime() >= began).toBe(true);
        expect(expires_at?.getTime()).toBe(created_at.getTime() + 2 * 86_400_000);
        expect(bytes > 0).toBe(true);
      }
      await fixture.reopen();
      expect(await fixture.documents({ backup_retention_time: -1 }).listBackups()).toMatchObject([
        { name: second, expires_at: undefined },
        { name: first },
      ]);
    });

    test('loadBackup makes a backup of the data it replaces', async () => {
      const things = fixture.documents();
      const empty = await things.createBackup();
      await things.insert({ _id: 'a' });
      await things.loadBackup(empty);
      expect(await things.count()).toBe(0);
      const [newest] = await things.listBackups();
      expect(newest).toMatchObject({ automatic: true, documents: 1, label: 'before loadBackup()' });
      await things.loadBackup(newest?.name as string);
      expect(await things.count()).toBe(1);
    });

    test('an unknown name is an error and changes nothing', async () => {
      const things = fixture.documents();
      await things.insert({ _id: 'a' });
      const name = await things.createBackup();
      for (const call of [() => things.loadBackup('x'), () => things.deleteBackup('x')]) {
        const error = await rejection(call());
        expect(error instanceof fixture.lib.BackupError).toBe(true);
        expect(error.code).toBe('backup_unknown');
        expect(error.message.includes(name)).toBe(true);
      }
      expect(await things.listBackups()).toHaveLength(1);
      expect(await things.count()).toBe(1);
      const labelled = await things.createBackup({ label: 'mine' });
      const { message } = await rejection(things.loadBackup('mine'));
      expect(message).toContain(`the label of ${labelled}`);
      await expect(things.loadBackup(5 as never)).rejects.toMatchObject({ code: 'option_invalid' });
      await expect(things.createBackup({ name: 'x' } as never)).rejects.toMatchObject({
        code: 'option_unknown',
      });
      await expect(things.createBackup({ label: 5 as never })).rejects.toMatchObject({
        code: 'option_invalid',
      });
    });

    test('deleteBackup removes one and keeps the others', async () => {
      const things = fixture.documents();
      await things.insert({ _id: 'a' });
      const first = await things.createBackup();
      await things.delete('a');
      const second = await things.createBackup();
      expect(await things.deleteBackup(second)).toBe(true);
      expect(await things.listBackups()).toMatchObject([{ name: first }]);
      await expect(things.deleteBackup(second)).rejects.toMatchObject({ code: 'backup_unknown' });
      await fixture.reopen();
      const again = fixture.documents();
      await again.loadBackup(first);
      expect(await again.get('a')).toMatchObject({ _id: 'a' });
    });

    test('survive compaction', async () => {
      const things = fixture.documents<{ n: number; text: string }>();
      const text = 'x'.repeat(2000);
      await things.insertMany(Array.from({ length: 200 }, (_, n) => ({ _id: `d${n}`, n, text })));
      const name = await things.createBackup();
      for (let round = 1; round <= 4; round++) {
        for (let n = 0; n < 200; n++) void things.update(`d${n}`, { n: n + round * 1000, text });
        await things.save();
      }
      await things.deleteMany({ n: { $mod: [2, 0] } });
      await fixture.reopen();
      const again = fixture.documents<{ n: number; text: string }>();
      expect((await again.verify()).whole).toBe(true);
      await again.loadBackup(name);
      expect((await again.filter({})).map(({ n }) => n)).toEqual(
        Array.from({ length: 200 }, (_, n) => n),
      );
    });

    test('notify live queries and listeners when they are loaded', async () => {
      const things = fixture.documents<{ n: number }>();
      await things.insertMany([
        { _id: 'a', n: 1 },
        { _id: 'b', n: 2 },
      ]);
      const name = await things.createBackup();
      await things.update('a', { n: 5 });
      await things.insert({ _id: 'c', n: 3 });
      const log = new LiveLog(things.live({}, { sort: { n: 1 }, limit: 2 }));
      const count = new LiveLog(things.liveCount({ n: { $lt: 3 } }));
      const one = new LiveLog(things.liveDocument('c'));
      await log.until((data) => data[0]?.n === 2);
      await count.until((data) => data === 1);
      await one.until((data) => data?.n === 3);
      const told = new EventLog(things, 'restore');
      await things.loadBackup(name);
      await log.until((data) => data.map(({ n }) => n).join() === '1,2');
      await count.until((data) => data === 2);
      await one.until((data) => data === undefined);
      await things.insert({ _id: 'd', n: 0 });
      await log.until((data) => data.map(({ n }) => n).join() === '0,1');
      await count.until((data) => data === 3);
      // From a worker, events and answers come by different ways.
      await told.until((events) => events.length > 0);
      expect(told.events).toEqual([{ collection: things.name, backup: name, documents: 2 }]);
      for (const each of [log, count, one]) each.stop();
    });

    test('verify reads everything and finds no defect', async () => {
      const things = fixture.documents();
      await things.insertMany([{ _id: 'a' }, { _id: 'b' }]);
      const name = await things.createBackup();
      await things.delete('a');
      await things.insert({ _id: 'c', when: new Date() });
      await things.insert({ _id: 'd' });
      expect(await things.verify()).toMatchObject({
        whole: true,
        documents: 3,
        problems: [],
        backups: [{ name, whole: true, documents: 2, problems: [] }],
      });
    });

    test('Drop() removes them, unless it is asked to keep one', async () => {
      const active = { activate_drop_method: true };
      const things = fixture.documents(active);
      await things.insert({ _id: 'a' });
      await things.createBackup();
      await things.Drop();
      const second = fixture.documents(active);
      expect(await second.listBackups()).toEqual([]);
      await second.insert({ _id: 'b' });
      await second.createBackup();
      await second.insert({ _id: 'c' });
      await second.Drop({ backup: true });
      await fixture.reopen();
      const third = fixture.documents(active);
      expect(await third.count()).toBe(0);
      await third.insert({ _id: 'd' });
      const list = await third.listBackups();
      expect(list).toMatchObject([{ label: 'before Drop()', automatic: true, documents: 2 }]);
      await third.loadBackup(list[0]?.name as string);
      await fixture.reopen();
      const last = fixture.documents(active);
      expect((await last.filter({})).map(({ _id }) => _id)).toEqual(['b', 'c']);
      expect((await last.verify()).whole).toBe(true);
    });

    test('a collection of another type cannot load them', async () => {
      const active = { activate_drop_method: true };
      const things = fixture.documents(active);
      await things.insert({ _id: 'a' });
      await things.Drop({ backup: true });
      const values = fixture.keyValues({ name: 'things' });
      await values.set('x', 1);
      const [{ name } = { name: '' }] = await values.listBackups();
      await expect(values.loadBackup(name)).rejects.toMatchObject({ code: 'type_mismatch' });
      expect(await values.get('x')).toBe(1);
    });

    test('an index declared later is built over restored documents', async () => {
      const things = fixture.documents<{ n: number }>();
      await things.insertMany([
        { _id: 'a', n: 1 },
        { _id: 'b', n: 1 },
      ]);
      const name = await things.createBackup();
      await things.update('b', { n: 2 });
      await fixture.reopen();
      const again = fixture.documents<{ n: number }>({ indexes: [{ fields: 'n', unique: true }] });
      expect(await again.count({ n: 1 })).toBe(1);
      await expect(again.loadBackup(name)).rejects.toMatchObject({ code: 'unique_violation' });
      expect(await again.count({ n: 1 })).toBe(1);
      const labels = async () => (await again.listBackups()).map(({ label }) => label);
      // The index answers before its columns are written, and the backup is made for writing them.
      await expect.poll(labels).toEqual(['before indexes changed', undefined]);
      await fixture.reopen();
      const plain = fixture.documents<{ n: number }>({ indexes: ['n'] });
      await plain.loadBackup(name);
      expect(await plain.count({ n: 1 })).toBe(2);
      expect((await plain.explain({ n: 1 })).documents_examined).toBe(0);
    });
  });
}
