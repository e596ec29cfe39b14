import { describe, expect, test } from 'vitest';
import type { DocumentChange } from '../../src/index.ts';
import type { ClientFixture } from './client-fixture.ts';
import { LiveLog } from './live-log.ts';
import { rejection } from './outcomes.ts';

interface Note {
  n: number;
  text?: string;
  tags?: string[];
  deep?: { a: number; b?: number };
}

/** at(), diff(), restoreDocument(). */
export function timeTravelSuite(fixture: ClientFixture): void {
  describe('at(backup)', () => {
    test('reads what the collection was, with criteria, options and functions', async () => {
      const notes = fixture.documents<Note>({ indexes: ['n'], indicate_created_at: true });
      await notes.insertMany(
        Array.from({ length: 40 }, (_, n) => ({ _id: `d${n}`, n, text: `t${n % 3}` })),
      );
      await notes.archive('d3');
      const all = await notes.filter({}, { archived: true });
      const then = notes.at(await notes.createBackup());
      await notes.deleteMany({ n: { $gte: 20 } });
      await notes.patch('d1', { n: 100 });
      await notes.insert({ _id: 'later', n: 5 });
      expect(await then.filter({}, { archived: true })).toEqual(all);
      expect(await then.get('d1')).toEqual(all[1]);
      expect(await then.get('later')).toBe(undefined);
      expect(await then.getMany(['d39', 'later', 'd0'])).toEqual([all[39], undefined, all[0]]);
      expect(await then.find({ n: 30 })).toEqual(all[30]);
      expect(await then.has({ n: 100 })).toBe(false);
      expect(await then.count()).toBe(39);
      expect(await then.count({ n: { $lt: 10 } }, { archived: 'only' })).toBe(1);
      const options = { sort: { n: -1 }, skip: 1, limit: 2, select: ['n'] } as const;
      expect(await then.filter({ n: { $gt: 30 } }, options)).toEqual([
        { _id: 'd38', n: 38 },
        { _id: 'd37', n: 37 },
      ]);
      const odd = await then.filter((note) => note.n % 2 === 1, {
        where: ({ text }) => text === 't0',
      });
      expect(odd.map(({ n }) => n)).toEqual([9, 15, 21, 27, 33, 39]);
      const walked: number[] = [];
      for await (const { n } of then.each({ n: { $gte: 38 } })) walked.push(n);
      expect(walked).toEqual([38, 39]);
      let whole = 0;
      for await (const _note of then) whole++;
      expect(whole).toBe(39);
      const { plan, returned } = await then.explain({ n: { $in: [1, 2] } });
      expect([plan.kind, returned]).toEqual(['index', 2]);
      expect(await notes.count()).toBe(20);
      expect(await notes.has({ n: 100 })).toBe(true);
    });

    test('gives documents of the caller, and changes nothing', async () => {
      const notes = fixture.documents<Note>();
      await notes.insert({ _id: 'a', n: 1, tags: ['x'] });
      const then = notes.at(await notes.createBackup());
      const [first] = await then.filter({});
      first?.tags?.push('y');
      expect(await then.get('a')).toMatchObject({ tags: ['x'] });
      expect(await notes.listBackups()).toHaveLength(1);
      expect(await notes.get('a')).toMatchObject({ tags: ['x'] });
    });

    test('contains the changes before createBackup, though nothing was awaited', async () => {
      const notes = fixture.documents<Note>();
      void notes.insert({ _id: 'a', n: 1 });
      const making = notes.createBackup();
      void notes.update('a', { n: 2 });
      expect(await notes.at(await making).get('a')).toMatchObject({ n: 1 });
    });

    test('a backup stays readable while it is read, though it is deleted', async () => {
      const notes = fixture.documents<Note>();
      const text = 'x'.repeat(400);
      await notes.insertMany(Array.from({ length: 2000 }, (_, n) => ({ n, text })));
      const name = await notes.createBackup();
      const then = notes.at(name);
      const seen: number[] = [];
      for await (const { n } of then.each()) {
        seen.push(n);
        if (n !== 0) continue;
        await notes.deleteMany({});
        await notes.deleteBackup(name);
        // Writes more, so that garbage is collected.
        await notes.insertMany(Array.from({ length: 200 }, () => ({ n: -1, text })));
        await notes.save();
      }
      expect(seen).toEqual(Array.from({ length: 2000 }, (_, n) => n));
      expect(await then.count()).toBe(2000);
      await then.close();
      expect(await rejection(then.count())).toMatchObject({ code: 'view_closed' });
      expect(await rejection(notes.at(name).count())).toMatchObject({ code: 'backup_unknown' });
    });

    test('a view ends with close(), and another one of the same backup goes on', async () => {
      const notes = fixture.documents<Note>();
      await notes.insert({ _id: 'a', n: 1 });
      const name = await notes.createBackup();
      const [one, two] = [notes.at(name), notes.at(name)];
      expect([one.backup, await one.count(), await two.count()]).toEqual([name, 1, 1]);
      await one.close();
      await one.close();
      await notes.deleteBackup(name);
      const error = await rejection(one.get('a'));
      expect(error instanceof fixture.lib.BackupError).toBe(true);
      expect(error.code).toBe('view_closed');
      expect(await two.get('a')).toMatchObject({ n: 1 });
    });

    test('unknown backups and bad arguments are errors', async () => {
      const notes = fixture.documents<Note>();
      await notes.insert({ _id: 'a', n: 1 });
      const name = await notes.createBackup();
      expect(await rejection(notes.at('x').count())).toMatchObject({ code: 'backup_unknown' });
      expect(await rejection(notes.at(5 as never).count())).toMatchObject({
        code: 'option_invalid',
      });
      const then = notes.at(name);
      expect(await rejection(then.filter({ $or: 1 } as never))).toMatchObject({ place: '$or' });
      expect(await rejection(then.filter({}, { limit: -1 }))).toMatchObject({
        code: 'option_invalid',
      });
      expect(await rejection(then.get(''))).toMatchObject({ code: 'id_invalid' });
      expect('insert' in then).toBe(false);
    });

    test('a query of a view can be aborted', async () => {
      const notes = fixture.documents<Note>();
      await notes.insert({ n: 1 });
      const then = notes.at(await notes.createBackup());
      const signal = AbortSignal.abort(new Error('enough'));
      expect((await rejection(then.filter({}, { signal }))).message).toBe('enough');
      expect(await then.count()).toBe(1);
    });

    test('survives a reload', async () => {
      const notes = fixture.documents<Note>();
      await notes.insertMany([{ n: 1 }, { n: 2 }]);
      const name = await notes.createBackup();
      await notes.deleteMany({});
      await fixture.reopen();
      expect(await fixture.documents<Note>().at(name).count({ n: 2 })).toBe(1);
    });

    test('reads keys and values', async () => {
      const values = fixture.keyValues();
      await values.set('a.b', 1);
      await values.set('list', [{ x: 1 }, { x: 2 }]);
      const then = values.at(await values.createBackup());
      await values.set('a.b', 2);
      await values.delete('list');
      await values.set('c', new Map([[1, 2]]));
      expect(await then.get('a.b')).toBe(1);
      expect([await then.has('c'), await then.has('list', { x: 2 })]).toEqual([false, true]);
      expect(await then.find('list', { x: 2 })).toEqual({ x: 2 });
      expect(await then.filter('list', {})).toHaveLength(2);
      expect(await then.keys()).toEqual(['a', 'list']);
      expect(await then.entries()).toEqual([
        ['a', { b: 1 }],
        ['list', [{ x: 1 }, { x: 2 }]],
      ]);
      expect(await then.count()).toBe(2);
      await then.close();
      expect(await values.get('c')).toEqual(new Map([[1, 2]]));
    });

    test('documents of another version are refused', async () => {
      const old = fixture.documents<Note>();
      await old.insert({ _id: 'a', n: 1 });
      const name = await old.createBackup();
      await fixture.reopen();
      const notes = fixture.documents<Note>({ version: 2, migrate: { 2: (note) => note } });
      expect(await notes.count()).toBe(1);
      for (const call of [
        () => notes.at(name).count(),
        () => listOf(notes.diff(name)),
        () => notes.restoreDocument('a', name),
      ])
        expect(await rejection(call())).toMatchObject({ code: 'schema_older' });
      expect(await notes.get('a')).toMatchObject({ n: 1, _updated: false });
    });

    test('after a drop and a close calls are errors', async () => {
      const notes = fixture.documents<Note>({ activate_drop_method: true });
      await notes.insert({ _id: 'a', n: 1 });
      const name = await notes.createBackup();
      const then = notes.at(name);
      expect(await then.count()).toBe(1);
      await notes.Drop();
      for (const call of [
        () => then.count(),
        () => listOf(notes.diff(name)),
        () => notes.restoreDocument('a', name),
      ])
        expect(await rejection(call())).toMatchObject({ code: 'collection_dropped' });
      const again = fixture.documents<Note>({ name: 'again' });
      const closed = again.at(await again.createBackup());
      await fixture.renew();
      expect(await rejection(closed.count())).toMatchObject({ code: 'closed' });
      expect(await rejection(listOf(again.diff('x')))).toMatchObject({ code: 'closed' });
    });
  });

  describe('diff(from, to)', () => {
    test('tells what was added, changed and removed, in insertion order', async () => {
      const notes = fixture.documents<Note>();
      await notes.insertMany([
        { _id: 'a', n: 1, tags: ['x', 'y'], deep: { a: 1 } },
        { _id: 'b', n: 2 },
        { _id: 'c', n: 3 },
        { _id: 'd', n: 4 },
      ]);
      const first = await notes.createBackup();
      await notes.delete('b');
      await notes.insert({ _id: 'e', n: 5 });
      await notes.patch('a', { 'tags.1': 'z', 'deep.b': 2 });
      await notes.archive('d');
      const second = await notes.createBackup();
      await notes.update('c', { n: 3, text: 'more' });
      const before = {
        _id: 'a',
        _updated: false,
        _archived: false,
        n: 1,
        tags: ['x', 'y'],
        deep: { a: 1 },
      };
      const expected = [
        {
          type: 'changed',
          id: 'a',
          before,
          after: { ...before, _updated: true, tags: ['x', 'z'], deep: { a: 1, b: 2 } },
          changes: [
            { path: '_updated', before: false, after: true },
            { path: 'tags.1', before: 'y', after: 'z' },
            { path: 'deep.b', after: 2 },
          ],
        },
        { type: 'removed', id: 'b', before: { _id: 'b', _updated: false, _archived: false, n: 2 } },
        {
          type: 'changed',
          id: 'd',
          before: { _id: 'd', _updated: false, _archived: false, n: 4 },
          after: { _id: 'd', _updated: false, _archived: true, n: 4 },
          changes: [{ path: '_archived', before: false, after: true }],
        },
        { type: 'added', id: 'e', after: { _id: 'e', _updated: false, _archived: false, n: 5 } },
      ];
      expect(await listOf(notes.diff(first, second))).toEqual(expected);
      const now = await listOf(notes.diff(first));
      expect(now.map(({ id, type }) => `${type} ${id}`)).toEqual([
        'changed a',
        'removed b',
        'changed c',
        'changed d',
        'added e',
      ]);
      expect(now[2]).toMatchObject({
        changes: [{ path: '_updated' }, { path: 'text', after: 'more' }],
      });
      const back = await listOf(notes.diff(second, first));
      expect(back.map(({ id, type }) => `${type} ${id}`)).toEqual([
        'changed a',
        'added b',
        'changed d',
        'removed e',
      ]);
      expect(await listOf(notes.diff(second, second))).toEqual([]);
    });

    test('compares values that JSON does not keep, and content that came back', async () => {
      const notes = fixture.documents({});
      const blob = new Blob(['same'], { type: 'text/plain' });
      const kept = () => ({
        at: new Date(5),
        map: new Map([[1, { a: 2n }]]),
        blob,
        bytes: new Uint8Array([1, 2]),
      });
      await notes.insertMany([
        { _id: 'same', ...kept() },
        { _id: 'other', ...kept() },
        { _id: 'back', n: 1 },
        { _id: 'dots', 'a.b': 1, deep: { 'c.d': 1, e: 2 } },
      ]);
      const name = await notes.createBackup();
      await notes.upsert({ _id: 'same', ...kept() });
      await notes.upsert({
        _id: 'other',
        ...kept(),
        at: new Date(6),
        blob: new Blob(['else'], { type: 'text/plain' }),
      });
      await notes.delete('back');
      await notes.insert({ _id: 'back', n: 1 });
      await notes.update('dots', { 'a.b': 2, deep: { 'c.d': 1, e: 3 } });
      const changes = (await listOf(notes.diff(name))) as (DocumentChange & {
        changes: { path: string }[];
      })[];
      expect(changes.map(({ id, changes: some }) => [id, some.map(({ path }) => path)])).toEqual([
        ['same', ['_updated']],
        ['other', ['_updated', 'at', 'blob']],
        ['dots', ['_updated', 'a.b', 'deep']],
      ]);
    });

    test('works part by part, and can be left early', async () => {
      const notes = fixture.documents<Note>();
      const text = 'y'.repeat(300);
      await notes.insertMany(Array.from({ length: 3000 }, (_, n) => ({ _id: `d${n}`, n, text })));
      const name = await notes.createBackup();
      await notes.patchMany({ n: { $mod: [2, 0] } }, { $inc: { n: 0 } });
      const ids: string[] = [];
      for await (const { id } of notes.diff(name)) {
        ids.push(id);
        // What comes later does not count.
        if (ids.length === 1) await notes.deleteMany({});
      }
      expect(ids).toEqual(Array.from({ length: 1500 }, (_, n) => `d${2 * n}`));
      for await (const { type } of notes.diff(name)) {
        expect(type).toBe('removed');
        break;
      }
      expect(await notes.deleteBackup(name)).toBe(true);
    });

    test('unknown backups are errors', async () => {
      const notes = fixture.documents<Note>();
      await notes.insert({ n: 1 });
      const name = await notes.createBackup();
      for (const call of [
        () => notes.diff('x'),
        () => notes.diff(name, 'x'),
        () => notes.diff('x', name),
      ]) {
        const error = await rejection(listOf(call()));
        expect(error instanceof fixture.lib.BackupError).toBe(true);
        expect(error.code).toBe('backup_unknown');
      }
      const missing = await rejection(listOf(notes.diff(undefined as never)));
      expect(missing.code).toBe('option_missing');
      const invalid = await rejection(listOf(notes.diff(name, null as never)));
      expect(invalid.code).toBe('option_invalid');
    });

    test('compares keys and values', async () => {
      const values = fixture.keyValues();
      await values.set('a', { b: 1, c: [1, 2] });
      await values.set('n', 1);
      await values.set('gone', 'x');
      const name = await values.createBackup();
      await values.set('a.c[1]', 3);
      await values.increase('n', 1);
      await values.delete('gone');
      await values.set('new', true);
      expect(await listOf(values.diff(name))).toEqual([
        {
          ...{ type: 'changed', id: 'a', before: { b: 1, c: [1, 2] }, after: { b: 1, c: [1, 3] } },
          changes: [{ path: 'c.1', before: 2, after: 3 }],
        },
        {
          type: 'changed',
          id: 'n',
          before: 1,
          after: 2,
          changes: [{ path: '', before: 1, after: 2 }],
        },
        { type: 'removed', id: 'gone', before: 'x' },
        { type: 'added', id: 'new', after: true },
      ]);
    });
  });

  describe('restoreDocument(id, backup)', () => {
    test('puts a document back as it was, in its place', async () => {
      const notes = fixture.documents<Note>({
        indicate_created_at: true,
        indicate_updated_timestamp: true,
        indexes: ['n'],
      });
      await notes.insertMany([
        { _id: 'a', n: 1 },
        { _id: 'b', n: 2 },
        { _id: 'c', n: 3 },
      ]);
      await notes.patch('a', { n: 10 });
      await notes.archive('b');
      const then = await notes.filter({}, { archived: true });
      const name = await notes.createBackup();
      await notes.patch('a', { n: 11 });
      await notes.unarchive('b');
      await notes.delete('c');
      await notes.insert({ _id: 'd', n: 4 });
      const live = new LiveLog(notes.live({}, { archived: true }));
      await live.until((documents) => documents.length === 3);
      expect(await notes.restoreDocument('a', name)).toEqual(then[0]);
      expect(await notes.restoreDocument('b', name)).toEqual(then[1]);
      expect(await notes.restoreDocument('c', name)).toEqual(then[2]);
      const after = [then[0], then[1], await notes.get('d'), then[2]];
      expect(await notes.filter({}, { archived: true })).toEqual(after);
      expect(await notes.filter({ n: 10 })).toEqual([then[0]]);
      expect(await live.until((documents) => documents.length === 4)).toEqual(after);
      live.stop();
      await fixture.reopen();
      const again = fixture.documents<Note>({
        indicate_created_at: true,
        indicate_updated_timestamp: true,
      });
      expect(await again.filter({}, { archived: true })).toEqual(after);
    });

    test('keeps the order of calls', async () => {
      const notes = fixture.documents<Note>();
      await notes.insert({ _id: 'a', n: 1 });
      const name = await notes.createBackup();
      void notes.update('a', { n: 2 });
      void notes.restoreDocument('a', name);
      void notes.patch('a', { text: 'after' });
      expect(await notes.get('a')).toMatchObject({ n: 1, text: 'after' });
    });

    test('an error changes nothing', async () => {
      const notes = fixture.documents<Note>({ indexes: [{ fields: ['n'], unique: true }] });
      await notes.insert({ _id: 'a', n: 1 });
      const name = await notes.createBackup();
      await notes.update('a', { n: 2 });
      await notes.insert({ _id: 'b', n: 1 });
      const before = await notes.filter({});
      const cases: [call: () => Promise<unknown>, code: string][] = [
        [() => notes.restoreDocument('a', name), 'unique_violation'],
        [() => notes.restoreDocument('b', name), 'document_unknown'],
        [() => notes.restoreDocument('a', 'x'), 'backup_unknown'],
        [() => notes.restoreDocument('', name), 'id_invalid'],
        [() => notes.restoreDocument('a', undefined as never), 'option_missing'],
      ];
      for (const [call, code] of cases) expect(await rejection(call())).toMatchObject({ code });
      expect(await notes.filter({})).toEqual(before);
      expect(await notes.listBackups()).toHaveLength(1);
    });
  });
}

async function listOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}
