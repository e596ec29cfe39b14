import { describe, expect, test } from 'vitest';
import type { AnyDocument, DocumentCollection } from '../../../src/index.ts';
import type { ClientFixture } from '../client-fixture.ts';
import { EventLog, rejection } from '../outcomes.ts';

/** `version`: older and newer code beside each other, backups and files of other versions. */
export function versionsSuite(fixture: ClientFixture): void {
  const migrate = {
    2: (document: AnyDocument) => ({ ...document, n: (document.n as number) * 10 }),
  };
  const older = (name = 'things') => fixture.documents<{ n: number }>({ name });
  const newer = (name = 'things') =>
    fixture.documents<{ n: number }>({ name, version: 2, migrate });
  const numbers = async (things: DocumentCollection<{ n: number }>) =>
    (await things.filter({})).map(({ n }) => n);

  describe('older code', () => {
    test('works until newer documents are in place; no change of it is lost', async () => {
      const old = older();
      await old.insert({ _id: 'a', n: 1 });
      const log = new EventLog(fixture.db, 'migration');
      const things = newer();
      const changes = Array.from({ length: 20 }, (_, n) =>
        old.insert({ _id: `b${n}`, n }).then(
          () => n,
          (error: { code: string }) => error.code,
        ),
      );
      const outcomes = await Promise.all(changes);
      const made = outcomes.filter((outcome) => typeof outcome === 'number');
      const refused = outcomes.filter((outcome) => typeof outcome !== 'number');
      expect(new Set([...refused, 'schema_newer'])).toEqual(new Set(['schema_newer']));
      expect(await numbers(things)).toEqual([10, ...made.map((n) => n * 10)]);
      await log.until((events) => events.some(({ backup }) => backup));
    });

    test('its calls and live queries reject with schema_newer', async () => {
      const old = older();
      await old.insert({ _id: 'a', n: 1 });
      const live = old.live({});
      const errors: unknown[] = [];
      live.subscribe(({ error }) => error && errors.push(error));
      await live.ready;
      await newer().ready;
      const stranger = older();
      for (const things of [old, stranger]) {
        for (const call of [
          () => things.ready,
          () => things.insert({ n: 1 }),
          () => things.insertMany([{ n: 1 }]),
          () => things.get('a'),
          () => things.filter({}),
          () => things.patch('a', { n: 2 }),
          () => things.delete('a'),
          () => things.deleteMany({}),
          () => things.save(),
          () => things.live({}).ready,
          () => fixture.db.transaction((tx) => tx(things).get('a')),
          () => fixture.db.transaction((tx) => tx(things).insert({ n: 1 })),
        ]) {
          const error = await rejection(call());
          expect(error).toBeInstanceOf(fixture.lib.CollectionError);
          expect(error).toMatchObject({ code: 'schema_newer', place: things.name });
        }
      }
      expect(errors).toMatchObject([{ code: 'schema_newer' }]);
      expect(await numbers(newer())).toEqual([10]);
    });

    test('a transaction that began before the migration does not commit', async () => {
      const old = older();
      await old.insert({ _id: 'a', n: 1 });
      const change = fixture.db.transaction(async (tx) => {
        await tx(old).patch('a', { n: 2 });
        await newer().ready;
      });
      expect((await rejection(change)).code).toBe('schema_newer');
      expect(await numbers(newer())).toEqual([10]);
    });

    test('loads the backup from before: that undoes the migration', async () => {
      const old = older();
      await old.insert({ _id: 'a', n: 1 });
      const log = new EventLog(fixture.db, 'migration');
      const things = newer();
      await things.insert({ _id: 'b', n: 5 });
      await log.until((events) => events.some(({ backup }) => backup));
      const backup = log.events.at(-1)?.backup as string;
      const live = things.live({});
      const errors: unknown[] = [];
      live.subscribe(({ error }) => error && errors.push(error));
      await live.ready;
      const isMemory = fixture.kind.storage === 'memory';
      if (!isMemory) await fixture.reopen();
      const code = isMemory ? old : older();
      expect((await rejection(code.count())).code).toBe('schema_newer');
      expect((await code.listBackups()).map(({ name }) => name)).toEqual([backup]);
      expect(await code.loadBackup(backup)).toBe(true);
      expect(await numbers(code)).toEqual([1]);
      await code.insert({ n: 2 });
      if (isMemory) {
        expect((await rejection(things.count())).code).toBe('schema_older');
        expect(errors).toMatchObject([{ code: 'schema_older' }]);
      }
      // The newer code, deployed again, migrates again.
      expect(await numbers(newer())).toEqual([10, 20]);
    });
  });

  describe('backups and files of another version', () => {
    test('newer code migrates an older backup as it loads it', async () => {
      const old = older();
      await old.insertMany([{ n: 1 }, { n: 2 }]);
      const backup = await old.createBackup();
      const things = newer();
      await things.insert({ n: 5 });
      const calls = [things.loadBackup(backup), things.count()];
      expect(await Promise.all(calls)).toEqual([true, 2]);
      expect(await numbers(things)).toEqual([10, 20]);
      const [before] = await things.listBackups();
      expect(before).toMatchObject({ label: 'before loadBackup()', documents: 3 });
      await things.loadBackup(before?.name as string);
      expect(await numbers(things)).toEqual([10, 20, 5]);
    });

    test('a backup that cannot be migrated changes nothing', async () => {
      const old = older();
      await old.insert({ _id: 'a', n: 1 });
      const backup = await old.createBackup();
      await old.update('a', { n: 2 });
      const picky = {
        2: (document: AnyDocument) => {
          if (document.n === 1) throw new Error('no');
          return document;
        },
      };
      const things = fixture.documents<{ n: number }>({ version: 2, migrate: picky });
      expect(await numbers(things)).toEqual([2]);
      const error = await rejection(things.loadBackup(backup));
      expect(error).toMatchObject({ code: 'migration_failed', place: 'a' });
      expect(await numbers(things)).toEqual([2]);
      expect((await rejection(things.loadBackup('nothing'))).code).toBe('backup_unknown');
    });

    test('older code refuses a newer backup', async () => {
      const things = newer();
      await things.insert({ n: 1 });
      const backup = await things.createBackup();
      const error = await rejection(older().loadBackup(backup));
      expect(error).toMatchObject({ code: 'schema_newer' });
      expect(error.message).toContain(backup);
    });

    test.each(['replace', 'merge'] as const)(
      'newer code imports an older file, mode %s',
      async (mode) => {
        const old = older('old');
        await old.insertMany([
          { _id: 'a', n: 1 },
          { _id: 'gone', n: 2 },
          { _id: 'c', n: 3 },
        ]);
        const file = await exported(old);
        const things = fixture.documents<{ n: number }>({
          version: 3,
          migrate: { ...migrate, 3: (one) => (one._id === 'gone' ? undefined : { n: one.n + 1 }) },
        });
        await things.insert({ _id: 'b', n: 7 });
        await things.importBackup(file, { mode });
        expect(await numbers(things)).toEqual(mode === 'replace' ? [11, 31] : [7, 11, 31]);
        const again = await exported(things);
        await things.insert({ n: 1 });
        await things.importBackup(again);
        expect(await numbers(things)).toEqual(mode === 'replace' ? [11, 31] : [7, 11, 31]);
      },
    );

    test('a file that cannot be migrated, or is newer, changes nothing', async () => {
      const old = older('old');
      await old.insert({ _id: 'x', n: 1 });
      const file = await exported(old);
      const things = fixture.documents<{ n: number }>({
        version: 2,
        migrate: { 2: () => null as never },
      });
      await things.insert({ _id: 'a', n: 5 });
      const failed = await rejection(things.importBackup(file));
      expect(failed).toMatchObject({ code: 'migration_failed', place: 'x' });
      const without = fixture.documents({ version: 2 });
      expect((await rejection(without.importBackup(file))).code).toBe('migration_gap');
      const newest = await exported(things);
      for (const mode of ['replace', 'merge'] as const)
        expect((await rejection(old.importBackup(newest, { mode }))).code).toBe('schema_newer');
      expect([await numbers(things), await numbers(old)]).toEqual([[5], [1]]);
    });

    test('importAll migrates the collections that this page has open, and keeps the version of others', async () => {
      await fixture.renew();
      const [one, two] = [older('one'), older('two')];
      await one.insert({ n: 1 });
      await two.insert({ n: 2 });
      await fixture.db.save();
      const file = await new Response(await fixture.db.exportAll()).blob();
      const names = [one.name, two.name];
      await fixture.renew();
      const things = new fixture.db.Collection<{ n: number }>({
        ...{ name: names[0] as string, type: 'DOCUMENT_BASED', version: 2, migrate },
      });
      await things.ready;
      await fixture.db.importAll(file);
      expect(await numbers(things)).toEqual([10]);
      const other = new fixture.db.Collection<{ n: number }>({
        ...{ name: names[1] as string, type: 'DOCUMENT_BASED', version: 2, migrate },
      });
      expect(await numbers(other)).toEqual([20]);
    });
  });
}

async function exported(things: Pick<DocumentCollection, 'createBackup' | 'exportBackup'>) {
  return new Response(await things.exportBackup(await things.createBackup())).blob();
}
