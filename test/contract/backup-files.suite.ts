import { describe, expect, test } from 'vitest';
import type { DocumentCollection, ImportProgress } from '../../src/index.ts';
import type { ClientFixture } from './client-fixture.ts';
import { LiveLog } from './live-log.ts';
import { EventLog, rejection } from './outcomes.ts';

/** exportBackup, importBackup, exportAll, importAll. */
export function backupFilesSuite(fixture: ClientFixture): void {
  describe('backup files', () => {
    const odd = {
      text: 'a\ud800\n"',
      numbers: [Number.NaN, -0, Number.POSITIVE_INFINITY, 1.5],
      big: 12n ** 30n,
      nothing: undefined,
      when: new Date(5),
      never: new Date(Number.NaN),
      pattern: /a.*b/giu,
      map: new Map<unknown, unknown>([[{ deep: 1n }, new Set([1, undefined])]]),
      bytes: new Uint8Array([1, 2, 3]),
      floats: new Float64Array([1.5, Number.NaN]),
      buffer: new Uint8Array([9, 8]).buffer,
      holes: Object.assign([1], { 2: 3 }),
      nested: { 'a.b': { $c: null } },
    };

    async function exported(things: Pick<DocumentCollection, 'createBackup' | 'exportBackup'>) {
      return new Response(await things.exportBackup(await things.createBackup())).blob();
    }

    test('restore every value, id and managed field in another collection', async () => {
      const options = { indicate_created_at: true, indicate_archived_timestamp: true } as const;
      const things = fixture.documents(options);
      await things.insert({ _id: 'odd', ...odd });
      await things.insertMany(Array.from({ length: 2000 }, (_, n) => ({ _id: `d${n}`, n })));
      await things.archive('d7');
      await things.update('d9', { n: -9 });
      await things.delete('d11');
      const before = await things.filter({}, { archived: true });
      const file = await exported(things);
      const others = fixture.documents({ ...options, name: 'others', indexes: ['n'] });
      await others.insert({ _id: 'gone' });
      expect(await others.importBackup(file)).toBe(2000);
      expect(await others.filter({}, { archived: true })).toEqual(before);
      expect(await others.filter({ n: { $gt: 1997 } }, { sort: { n: -1 } })).toEqual(
        before.slice(-2).reverse(),
      );
      await others.insert({ _id: 'next' });
      await fixture.reopen();
      const again = fixture.documents({ ...options, name: 'others', indexes: ['n'] });
      expect((await again.filter({}, { archived: true })).slice(0, -1)).toEqual(before);
      expect((await again.verify()).whole).toBe(true);
      const [undo] = await again.listBackups();
      expect(undo).toMatchObject({ automatic: true, label: 'before importBackup()', documents: 1 });
      await again.loadBackup(undo?.name as string);
      expect(await again.get('gone')).toMatchObject({ _id: 'gone' });
    });

    test('can be merged: documents with an id of the file are replaced and keep their place', async () => {
      const things = fixture.documents<{ n: number }>();
      await things.insertMany([
        { _id: 'a', n: 1 },
        { _id: 'b', n: 2 },
        { _id: 'c', n: 3 },
      ]);
      const file = await exported(things);
      await things.delete('b');
      await things.update('c', { n: 30 });
      await things.insert({ _id: 'd', n: 4 });
      const progress: ImportProgress[] = [];
      const options = {
        mode: 'merge' as const,
        progress: (at: ImportProgress) => void progress.push(at),
      };
      expect(await things.importBackup(file.stream(), options)).toBe(3);
      const found = await things.filter({});
      expect(found.map(({ _id, n }) => `${_id}${n}`)).toEqual(['a1', 'c3', 'd4', 'b2']);
      expect(progress.at(-1)).toEqual({ documents: 3, bytes: file.size });
      await fixture.reopen();
      expect(await fixture.documents().filter({})).toEqual(found);
    });

    test('contain the options of the collection and the indexes of all open handles', async () => {
      const things = fixture.documents({ id_length: 12, indexes: ['n'] });
      const other = fixture.documents({ id_length: 12, indexes: ['m'] });
      await Promise.all([things.ready, other.ready]);
      const plain = (await exported(things)).stream().pipeThrough(new DecompressionStream('gzip'));
      const [line = ''] = (await new Response(plain).text()).split('\n');
      const { options } = JSON.parse(line);
      expect(options).toMatchObject({ id_length: 12, save_timeout: 1 });
      expect(options).not.toHaveProperty('save_early');
      expect(options.indexes.map(({ name }: { name: string }) => name)).toEqual(['n', 'm']);
    });

    test('of an empty collection can be merged, and can replace', async () => {
      const things = fixture.documents({ indexes: [{ fields: 'n', unique: true }] });
      const file = await exported(things);
      await things.insertMany([{ n: 1 }, { n: 2 }]);
      const before = await things.filter({});
      expect(await things.importBackup(file, { mode: 'merge' })).toBe(0);
      expect(await things.filter({})).toEqual(before);
      expect((await rejection(things.insert({ n: 1 }))).code).toBe('unique_violation');
      expect(await things.importBackup(file)).toBe(0);
      expect(await things.count()).toBe(0);
      await things.insert({ n: 1 });
    });

    test('work for keys and values, and update live queries', async () => {
      const values = fixture.keyValues();
      await values.set('a', new Map([['x', 1]]));
      await values.set('b.c', [1, 2]);
      const file = await exported(values);
      await values.set('b.c', 'other');
      await values.set('z', 1);
      const log = new LiveLog(values.live('b.c'));
      await log.until((data) => data === 'other');
      const told = new EventLog(values, 'restore');
      expect(await values.importBackup(file)).toBe(2);
      expect(await values.entries()).toEqual([
        ['a', new Map([['x', 1]])],
        ['b', { c: [1, 2] }],
      ]);
      await log.until((data) => Array.isArray(data));
      log.stop();
      // With a worker, events and answers take different ways.
      await told.until((events) => events.length > 0);
      expect(told.events).toEqual([{ collection: values.name, backup: undefined, documents: 2 }]);
      const documents = fixture.documents();
      await expect(documents.importBackup(file)).rejects.toMatchObject({ code: 'type_mismatch' });
    });

    test('other files are refused and change nothing', async () => {
      const things = fixture.documents();
      await things.insert({ _id: 'a' });
      const file = await exported(things);
      const bytes = new Uint8Array(await file.arrayBuffer());
      const files = [
        new Blob([]),
        new Blob(['{}']),
        new Blob([bytes.slice(0, -4)]),
        new Blob([bytes.slice(0, bytes.length / 2)]),
        new Blob([bytes, bytes]),
        new Blob([bytes.map((byte, at) => (at === 40 ? byte ^ 4 : byte))]),
      ];
      for (const wrong of files) {
        const error = await rejection(things.importBackup(wrong));
        expect(error instanceof fixture.lib.BackupError).toBe(true);
        expect(error.code.startsWith('file_')).toBe(true);
      }
      const failing = new ReadableStream<Uint8Array>({
        pull: (controller) => controller.error(new RangeError('the disk came off')),
      });
      await expect(things.importBackup(failing)).rejects.toMatchObject({ name: 'RangeError' });
      for (const wrong of [undefined, 'file', 5, {}, new ReadableStream().getReader()]) {
        await expect(things.importBackup(wrong as never)).rejects.toMatchObject({
          code: 'option_invalid',
        });
      }
      const text = new ReadableStream({ start: (controller) => controller.enqueue('text') });
      await expect(things.importBackup(text)).rejects.toMatchObject({ code: 'option_invalid' });
      await expect(things.importBackup(file, { mode: 'add' } as never)).rejects.toMatchObject({
        code: 'option_invalid',
      });
      await expect(things.exportBackup('x')).rejects.toMatchObject({ code: 'backup_unknown' });
      expect(await things.listBackups()).toHaveLength(1);
      expect(await things.filter({})).toMatchObject([{ _id: 'a' }]);
      expect((await things.verify()).whole).toBe(true);
    });

    test('a signal aborts an import; waiting calls go on', async () => {
      const things = fixture.documents();
      await things.insertMany([{ _id: 'a' }, { _id: 'b' }]);
      const file = await exported(things);
      await things.delete('a');
      const controller = new AbortController();
      const bytes = new Uint8Array(await file.arrayBuffer());
      let cancelled = false;
      const stalled = new ReadableStream<Uint8Array>({
        start: (stream) => stream.enqueue(bytes.slice(0, 20)),
        cancel: () => {
          cancelled = true;
        },
      });
      const { signal } = controller;
      const importing = things.importBackup(stalled, { signal });
      const waiting = things.count();
      controller.abort(new RangeError('no more'));
      await expect(importing).rejects.toMatchObject({ message: 'no more' });
      expect(await waiting).toBe(1);
      expect(await things.insert({ _id: 'c' })).toMatchObject({ _id: 'c' });
      expect(cancelled).toBe(true);
      await expect(things.importBackup(file, { signal })).rejects.toMatchObject({
        message: 'no more',
      });
      expect(await things.importBackup(file)).toBe(2);
    });

    test('an import that is refused before it reads cancels its source', async () => {
      await fixture.renew();
      const { db } = fixture;
      const things = fixture.documents();
      let cancelled = 0;
      const source = (): ReadableStream<Uint8Array> =>
        new ReadableStream({
          cancel: () => {
            cancelled += 1;
          },
        });
      const signal = AbortSignal.abort(new RangeError('no more'));
      const wrong = { mode: 'add' } as never;
      // The first call loads code; the others find it there.
      for (const round of [0, 1]) {
        await expect(things.importBackup(source(), { signal })).rejects.toThrow('no more');
        await expect(db.importAll(source(), { signal })).rejects.toThrow('no more');
        await expect(things.importBackup(source(), wrong)).rejects.toThrow('mode');
        expect([round, cancelled]).toEqual([round, 3 * round + 3]);
      }
      await db.close();
      await expect(things.importBackup(source())).rejects.toMatchObject({ code: 'closed' });
      await expect(db.importAll(source())).rejects.toMatchObject({ code: 'closed' });
      expect(cancelled).toBe(8);
    });

    test('an import that violates a unique index changes nothing', async () => {
      const things = fixture.documents<{ n: number }>();
      await things.insertMany([{ n: 1 }, { n: 1 }]);
      const file = await exported(things);
      const unique = fixture.documents<{ n: number }>({
        name: 'unique',
        indexes: [{ fields: 'n', unique: true }],
      });
      await unique.insert({ n: 5 });
      await expect(unique.importBackup(file)).rejects.toMatchObject({ code: 'unique_violation' });
      expect(await unique.filter({ n: 5 })).toHaveLength(1);
      expect(await unique.count()).toBe(1);
      expect((await unique.verify()).whole).toBe(true);
    });

    test('a backup in export is removed only afterwards', async () => {
      const things = fixture.documents<{ n: number; text: string }>();
      const text = 'x'.repeat(1000);
      await things.insertMany(Array.from({ length: 500 }, (_, n) => ({ _id: `d${n}`, n, text })));
      const name = await things.createBackup();
      const stream = await things.exportBackup(name);
      await things.deleteMany({});
      await things.deleteBackup(name);
      await things.insert({ n: 0, text });
      await things.save();
      expect(await things.importBackup(stream)).toBe(500);
      expect(await things.count()).toBe(500);
    });

    test('an unfinished export can be cancelled', async () => {
      const things = fixture.documents();
      await things.insert({ _id: 'a' });
      const stream = await things.exportBackup(await things.createBackup());
      await stream.cancel();
      expect(await things.count()).toBe(1);
    });

    /** So large that an export is still reading after its first bytes. */
    async function insertLarge(things: DocumentCollection): Promise<void> {
      const text = () => {
        const codes = crypto.getRandomValues(new Uint16Array(30_000));
        return String.fromCharCode(...codes.map((code) => 0x4e00 + (code % 0x5000)));
      };
      for (let n = 0; n < 8; n++)
        await things.insertMany(Array.from({ length: 20 }, () => ({ text: text() })));
      await things.save();
    }

    /** Rejects with the error of the stream, where `Response` has one of its own. */
    async function readAll(reader: ReadableStreamDefaultReader): Promise<void> {
      while (!(await reader.read()).done);
    }

    async function toEnd(changes: AsyncGenerator): Promise<void> {
      for await (const _ of changes);
    }

    test('what a drop or a rename cuts off says so, and the file of all is whole', async () => {
      const ends = {
        collection_dropped: (things: DocumentCollection) => things.Drop(),
        collection_renamed: ({ name }: DocumentCollection) =>
          fixture.db.renameCollection(name, `${name} renamed`),
      };
      for (const [code, end] of Object.entries(ends)) {
        await fixture.renew();
        const things = fixture.documents({ name: code, activate_drop_method: true });
        await insertLarge(things);
        const file = await things.exportBackup(await things.createBackup());
        const all = await fixture.db.exportAll();
        const empty = await things.createBackup();
        await things.patchMany({}, { $set: { seen: true } });
        const changes = await things.diff(empty);
        await changes.next();
        const [one, every] = [file.getReader(), all.getReader()];
        // A collection that goes before its section begins is left out.
        const [, { value: begun }] = await Promise.all([one.read(), every.read()]);
        every.releaseLock();
        await end(things);
        const outcomes = await Promise.all([rejection(readAll(one)), rejection(toEnd(changes))]);
        expect(outcomes.map((error) => error.code)).toEqual([code, code]);
        const again = new TransformStream({ start: (whole) => whole.enqueue(begun) });
        const whole = await new Response(all.pipeThrough(again)).blob();
        expect(await fixture.db.importAll(whole)).toBe(160);
      }
    });

    test('a collection that is dropped meanwhile is left out of the file of all', async () => {
      await fixture.renew();
      const active = { activate_drop_method: true };
      const stored = fixture.documents({ name: 'stored', ...active });
      await stored.insert({});
      await fixture.reopen();
      await insertLarge(fixture.documents({ name: 'large' }));
      const open = fixture.documents({ name: 'open', ...active });
      await open.insert({});
      await fixture.documents({ name: 'last' }).insert({ _id: 'a' });
      const stream = await fixture.db.exportAll();
      await Promise.all([open.Drop(), fixture.documents({ name: 'stored', ...active }).Drop()]);
      const file = await new Response(stream).blob();
      await fixture.documents({ name: 'last' }).insert({ _id: 'b' });
      expect(await fixture.db.importAll(file)).toBe(161);
      const names = (await fixture.db.collections()).map(({ name }) => name);
      expect(names).toEqual([fixture.nameOf('large'), fixture.nameOf('last')]);
      expect(await fixture.documents({ name: 'last' }).count()).toBe(1);
    });

    test('exportAll and importAll take all collections, open or not', async () => {
      await fixture.renew();
      const things = fixture.documents();
      await things.insertMany([{ _id: 'a' }, { _id: 'b' }]);
      await fixture.keyValues().set('k', 1);
      await fixture.documents({ name: 'empty' }).ready;
      await fixture.reopen();
      const values = fixture.keyValues();
      await values.set('k', 2);
      const file = await new Response(await fixture.db.exportAll()).blob();
      await values.set('k', 3);
      const second = fixture.documents({ name: 'second' });
      await second.insert({ _id: 's' });
      await fixture.documents().deleteMany({});
      await fixture.reopen();
      const again = fixture.keyValues();
      await again.set('k', 4);
      const [count] = await Promise.all([
        fixture.db.importAll(file),
        fixture.documents().find({}, { archived: true }),
      ]);
      expect(count).toBe(3);
      expect(await again.get('k')).toBe(2);
      const found = await fixture.documents().filter({});
      expect(found.map(({ _id }) => _id)).toEqual(['a', 'b']);
      expect(await fixture.documents({ name: 'second' }).count()).toBe(1);
      await expect(again.importBackup(file)).rejects.toMatchObject({
        code: 'file_several',
      });
      await fixture.reopen();
      expect(await fixture.keyValues().get('k')).toBe(2);
      expect(await fixture.documents().count()).toBe(2);
      expect((await fixture.documents().verify()).whole).toBe(true);
    });

    test('importAll leaves nothing of collections behind where it is refused', async () => {
      await fixture.renew();
      await fixture.documents({ name: 'first' }).insert({ _id: 'a' });
      await insertLarge(fixture.documents({ name: 'large' }));
      await fixture.keyValues({ name: 'last' }).set('k', 1);
      const file = await new Response(await fixture.db.exportAll()).blob();
      await fixture.renew();
      for (const size of [file.size >> 1, file.size - 9]) {
        const refused = fixture.db.importAll(file.slice(0, size));
        await expect(refused).rejects.toMatchObject({ name: 'BackupError' });
        expect(await fixture.db.collections()).toEqual([]);
      }
      // Neither is their type.
      const first = fixture.keyValues({ name: 'first' });
      await first.set('k', 1);
      expect(await first.get('k')).toBe(1);
      expect(await fixture.documents({ name: 'last' }).count()).toBe(0);
    });

    test('importAll is atomic', async () => {
      await fixture.renew();
      await fixture.documents().insert({ _id: 'a' });
      await fixture.keyValues().set('k', 1);
      const file = await new Response(await fixture.db.exportAll()).blob();
      await fixture.documents().insert({ _id: 'b' });
      await fixture.keyValues().set('k', 2);
      await expect(fixture.db.importAll(file.slice(0, file.size - 9))).rejects.toMatchObject({
        name: 'BackupError',
      });
      expect(await fixture.documents().count()).toBe(2);
      expect(await fixture.keyValues().get('k')).toBe(2);
      expect(await fixture.db.importAll(file, { mode: 'merge' })).toBe(2);
      expect(await fixture.documents().count()).toBe(2);
      expect(await fixture.keyValues().get('k')).toBe(1);
    });
  });
}
