import { describe, expect, test } from 'vitest';
import type { AnyDocument } from '../../../src/index.ts';
import type { ClientFixture } from '../client-fixture.ts';
import { EventLog, own, rejection } from '../outcomes.ts';
import { schemaOf } from '../schemas/libraries.ts';

interface Named {
  name: string;
}

/** `version` and `migrate`: what a migration does. */
export function migrationsSuite(fixture: ClientFixture): void {
  const split = {
    2: ({ name, ...user }: Named & AnyDocument) => ({ ...user, names: name.split(' ') }),
  };

  describe('migrations', () => {
    test('bring each document through the missing steps, and keep all else', async () => {
      const stamps = { indicate_created_at: true, indicate_archived_at: true } as const;
      const old = fixture.documents<Named>(stamps);
      await old.insertMany(
        Array.from({ length: 700 }, (_, n) => ({ _id: `d${n}`, name: `Ada ${n}` })),
      );
      await old.archive('d7');
      await old.update('d9', { name: 'Bob 9' });
      await old.delete('d11');
      const before = await old.filter({}, { archived: true });
      const expected = before.map(({ name, ...document }) => ({
        ...document,
        names: name.split(' '),
        shown: true,
      }));
      const version = { version: 3, migrate: { ...split, 3: add({ shown: true }) } };
      const things = fixture.documents({ ...stamps, ...version });
      expect(await things.filter({}, { archived: true })).toEqual(expected);
      if (fixture.kind.storage === 'memory') return;
      await fixture.reopen();
      const log = new EventLog(fixture.db, 'migration');
      const again = fixture.documents({ ...stamps, ...version });
      expect(await again.filter({}, { archived: true })).toEqual(expected);
      expect((await again.verify()).whole).toBe(true);
      expect(log.events).toEqual([]);
    });

    test('run for what is in storage, when nobody had it open', async () => {
      if (fixture.kind.storage === 'memory') return;
      await fixture.documents<Named>().insert({ _id: 'a', name: 'Ada Byron' });
      await fixture.keyValues().set('a', { n: 1 });
      await fixture.reopen();
      const things = fixture.documents({ version: 2, migrate: split });
      expect(own(await things.filter({}))).toEqual([{ names: ['Ada', 'Byron'] }]);
      const values = fixture.keyValues({ version: 2, migrate: { 2: ({ n }) => n + 1 } });
      expect(await values.get('a')).toBe(2);
    });

    test('keep every kind of value', async () => {
      const odd = {
        when: new Date(5),
        map: new Map([[1n, new Set(['a'])]]),
        bytes: new Uint8Array([1, 2]),
        nothing: undefined,
        blob: new Blob(['x']),
        deep: [{ pattern: /a/g }],
      };
      const old = fixture.documents();
      await old.insertMany([
        { _id: 'a', odd },
        { _id: 'b', odd },
      ]);
      const things = fixture.documents<AnyDocument>({
        version: 2,
        migrate: { 2: (document) => (document._id === 'b' ? undefined : { ...document, n: 1 }) },
      });
      const [found] = own(await things.filter({})) as [AnyDocument];
      const { blob, ...rest } = found.odd as typeof odd;
      const { blob: _, ...others } = odd;
      expect([found.n, rest]).toEqual([1, others]);
      expect(await blob.text()).toBe('x');
      expect(await things.count()).toBe(1);
    });

    test('a step gets the document with its managed fields, and only _id is compared', async () => {
      const old = fixture.documents({ indicate_created_timestamp: true });
      const stored = await old.insert({ _id: 'a', n: 1 });
      const given: AnyDocument[] = [];
      const note = (document: AnyDocument) => {
        given.push({ ...document });
        return { n: 2, _archived: true, _created_timestamp: 5 };
      };
      const things = fixture.documents({
        indicate_created_timestamp: true,
        version: 3,
        migrate: { 2: note, 3: note },
      });
      expect(await things.get('a')).toEqual({ ...stored, n: 2 });
      expect(given).toEqual([stored, { ...stored, n: 2 }]);
    });

    test('a step that returns undefined removes the document', async () => {
      const old = fixture.documents<{ n: number }>();
      await old.insertMany(Array.from({ length: 10 }, (_, n) => ({ _id: `d${n}`, n })));
      const migrate = { 2: ({ n }: AnyDocument) => ((n as number) % 3 === 0 ? { n } : undefined) };
      const things = fixture.documents<{ n: number }>({ version: 2, migrate });
      expect((await things.filter({})).map(({ n }) => n)).toEqual([0, 3, 6, 9]);
      const [backup] = await things.listBackups();
      expect(backup).toMatchObject({ label: 'before a migration', documents: 10, automatic: true });
    });

    test('values of a key-value collection pass through the steps, with their keys', async () => {
      const old = fixture.keyValues();
      await old.set('a', { n: 1 });
      await old.set('b', 5);
      await old.set('gone', 'x');
      const things = fixture.keyValues({
        version: 2,
        migrate: { 2: (value, key) => (key === 'gone' ? undefined : { value, key }) },
      });
      expect(await things.entries()).toEqual([
        ['a', { value: { n: 1 }, key: 'a' }],
        ['b', { value: 5, key: 'b' }],
      ]);
    });

    test('a value that is undefined stays, where a step returns what it gets', async () => {
      const old = fixture.keyValues();
      await old.set('none', undefined);
      await old.set('b', 5);
      const things = fixture.keyValues({ version: 2, migrate: { 2: (value) => value } });
      expect(await things.entries()).toEqual([
        ['none', undefined],
        ['b', 5],
      ]);
    });

    test('calls made meanwhile wait, and take effect in order', async () => {
      const old = fixture.documents<Named>();
      await old.insert({ _id: 'a', name: 'Ada' });
      const things = fixture.documents<{ names: string[] }>({ version: 2, migrate: split });
      const calls = [
        things.get('a'),
        things.patch('a', { $push: { names: 'Byron' } }),
        things.insert({ _id: 'b', names: [] }),
        things.find({ names: 'Byron' }),
        fixture.db.transaction(async (tx) => (await tx(things).get('a'))?.names.length),
        things.count(),
      ];
      expect(await Promise.all(calls)).toMatchObject([
        { names: ['Ada'] },
        { names: ['Ada', 'Byron'] },
        { _id: 'b' },
        { _id: 'a' },
        2,
        2,
      ]);
    });

    test('a transaction that is the first to use a handle waits too', async () => {
      await fixture.documents<Named>().insert({ _id: 'a', name: 'Ada' });
      await fixture.documents({ name: 'other' }).ready;
      const things = fixture.documents({ version: 2, migrate: split });
      const found = await fixture.db.transaction((tx) => tx(things).get('a'));
      expect(found).toMatchObject({ names: ['Ada'] });
    });

    test('live queries begin with migrated documents', async () => {
      await fixture.documents<Named>().insert({ _id: 'a', name: 'Ada' });
      const live = fixture.documents({ version: 2, migrate: split }).live({});
      const stop = live.subscribe(() => undefined);
      await live.ready;
      expect(live.getSnapshot().data).toMatchObject([{ names: ['Ada'] }]);
      stop();
    });

    test('the event `migration` has the progress, and the backup at the end', async () => {
      const old = fixture.documents<{ n: number }>();
      await old.insertMany(Array.from({ length: 5000 }, (_, n) => ({ n })));
      const log = new EventLog(fixture.db, 'migration');
      const things = fixture.documents({ version: 2, migrate: { 2: add({ m: 1 }) } });
      await things.ready;
      await log.until((events) => events.at(-1)?.backup !== undefined);
      const [backup] = await things.listBackups();
      const same = { collection: fixture.nameOf('things'), from: 1, to: 2, total: 5000 };
      for (const event of log.events) expect(event).toMatchObject(same);
      expect(log.events.at(-1)).toMatchObject({ done: 5000, backup: backup?.name });
      const done = log.events.map((event) => event.done);
      expect(done).toEqual([...done].sort((a, b) => a - b));
      expect([done[0], done.length > 3]).toEqual([0, true]);
    });

    test('indexes of the newer handle are built from migrated documents, old ones do not count', async () => {
      const old = fixture.documents({ indexes: [{ fields: 'email', unique: true }] });
      await old.insertMany([
        { _id: 'a', email: 'x', mail: 'same' },
        { _id: 'b', email: 'y', mail: 'same' },
      ]);
      // The older documents violate the new index, the newer ones the old index.
      const things = fixture.documents<AnyDocument>({
        indexes: [{ fields: 'mail', unique: true }],
        version: 2,
        migrate: { 2: ({ _id, mail }) => ({ email: 'none', mail: `${mail} ${_id}` }) },
      });
      expect(await things.count({ email: 'none' })).toBe(2);
      expect((await rejection(things.insert({ mail: 'same a' }))).code).toBe('unique_violation');
    });

    test('migrated documents pass through the schema, whose output is stored', async () => {
      await fixture.documents<Named>().insert({ _id: 'a', name: 'Ada' });
      const schema = schemaOf((given) => ({ value: { ...(given as object), checked: true } }));
      const things = fixture.documents({ version: 2, migrate: split, schema });
      expect(await things.get('a')).toMatchObject({ names: ['Ada'], checked: true });
    });

    test('a new collection takes the version of its first handle, without a step', async () => {
      const log = new EventLog(fixture.db, 'migration');
      const fails = () => {
        throw new Error('not called');
      };
      const things = fixture.documents({ version: 3, migrate: { 2: fails, 3: fails } });
      await things.insert({ _id: 'a' });
      expect(await things.listBackups()).toEqual([]);
      expect((await rejection(fixture.documents().count())).code).toBe('schema_newer');
      if (fixture.kind.storage !== 'memory') await fixture.reopen();
      const again = fixture.documents({ version: 3, migrate: { 3: fails } });
      expect(await again.get('a')).toMatchObject({ _id: 'a' });
      expect(log.events).toEqual([]);
    });

    test('an empty collection needs no step', async () => {
      const old = fixture.documents();
      await old.insert({ _id: 'a' });
      await old.save();
      await old.delete('a');
      await old.save();
      const things = fixture.documents({ version: 4 });
      await things.insert({ _id: 'b' });
      expect(await things.count()).toBe(1);
      expect((await rejection(old.count())).code).toBe('schema_newer');
    });

    test('a rename and a drop go on from the version', async () => {
      const options = { activate_drop_method: true, version: 2, migrate: split };
      const things = fixture.documents(options);
      await things.insert({ _id: 'a', names: [] });
      await things.save();
      await fixture.db.renameCollection(things.name, fixture.nameOf('named'));
      expect((await rejection(fixture.documents({ name: 'named' }).count())).code).toBe(
        'schema_newer',
      );
      const named = fixture.documents({ ...options, name: 'named' });
      expect(await named.get('a')).toMatchObject({ names: [] });
      await named.Drop();
      const anew = fixture.documents({ name: 'named' });
      await anew.insert({ n: 1 });
      expect(await anew.count()).toBe(1);
    });

    if (fixture.caching)
      test('collection.sync waits for the migration, and refuses older handles', async () => {
        if (fixture.kind.engine !== 'thread') return;
        const old = fixture.documents<Named>();
        await old.insert({ _id: 'a', name: 'Ada' });
        await old.ready;
        const { sync } = old;
        expect(sync.get('a')).toMatchObject({ name: 'Ada' });
        const things = fixture.documents({ version: 2, migrate: split });
        await things.ready;
        expect(things.sync.get('a')).toMatchObject({ names: ['Ada'] });
        expect((await rejection((async () => sync.get('a'))())).code).toBe('schema_newer');
        expect((await rejection((async () => sync.insert({ name: 'B' }))())).code).toBe(
          'schema_newer',
        );
      });
  });
}

/** A step that adds fields. */
function add(fields: object) {
  return (document: object) => ({ ...document, ...fields });
}
