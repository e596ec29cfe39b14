import { describe, expect, test } from 'vitest';
import type { DocumentCollection } from '../../../src/index.ts';
import type { ClientFixture } from '../client-fixture.ts';
import { own, rejection } from '../outcomes.ts';
import { libraries, type NewPerson, type Person } from './libraries.ts';

/** The option `schema` of document collections, with each library on every door. */
export function schemaDocumentsSuite(fixture: ClientFixture): void {
  describe.each(libraries)('a schema of $title', ({ person: schema }) => {
    type People = DocumentCollection<Person, never, NewPerson>;
    const people = (name = 'people') =>
      fixture.documents<Person>({ name, schema }) as unknown as People;
    const stored = async (name?: string) => own(await people(name).filter({}));
    const ada = { name: 'Ada', age: 36 };
    /** What a refused change must leave behind. */
    const withAda = async () => {
      const collection = people();
      await collection.insert({ _id: 'ada', ...ada });
      return collection;
    };
    const refused = async (call: Promise<unknown>, place: string) => {
      const error = await rejection(call);
      expect(error).toBeInstanceOf(fixture.lib.ValueError);
      expect(error).toMatchObject({ code: 'schema_violation', place });
      return error as InstanceType<typeof fixture.lib.ValueError>;
    };
    const broken = { name: '', age: 1 } as Person;

    test('insert stores the output of the schema, and returns it', async () => {
      const made = await people().insert({ _id: 'eve', name: 'Eve' });
      expect(made).toEqual({
        _id: 'eve',
        _updated: false,
        _archived: false,
        name: 'Eve',
        age: 18,
      });
      expect(await people().get('eve')).toEqual(made);
      await fixture.reopen();
      expect(await fixture.documents({ name: 'people' }).get('eve')).toEqual(made);
    });

    test('insert of what the schema refuses stores nothing', async () => {
      const collection = people();
      const bad = { name: '', address: { city: 5 } } as unknown as Person;
      const { issues = [], message } = await refused(collection.insert(bad), 'document.name');
      expect(issues.map(({ path }) => path)).toEqual(
        expect.arrayContaining([['name'], ['address', 'city']]),
      );
      for (const issue of issues) expect(message).toContain(issue.message);
      expect(await collection.count()).toBe(0);
    });

    test('insertMany is all or none, and names the index', async () => {
      const collection = people();
      const many: Person[] = Array.from({ length: 30 }, (_, age) => ({ name: 'x', age }));
      expect(own(await collection.insertMany(many))).toEqual(many);
      const error = await refused(
        collection.insertMany([...many, broken, ...many]),
        'documents[30].name',
      );
      expect(error.issues?.[0]?.path).toEqual(['name']);
      expect(await collection.count()).toBe(30);
    });

    test('insertMany in several slices is all or none', async () => {
      const collection = people();
      const long = Array.from({ length: 30 }, () => ({ name: 'x'.repeat(50_000), age: 1 }));
      await refused(collection.insertMany([...long, broken]), 'documents[30].name');
      expect(await collection.count()).toBe(0);
      expect(await collection.insertMany(long)).toHaveLength(30);
    });

    test('upsert and upsertMany', async () => {
      const collection = await withAda();
      await refused(collection.upsert({ _id: 'ada', ...broken }), 'document.name');
      await refused(
        collection.upsertMany([
          { _id: 'bob', ...ada },
          { _id: 'ada', ...broken },
        ]),
        'documents[1].name',
      );
      expect(await stored()).toEqual([ada]);
      await collection.upsert({ _id: 'ada', name: 'A' });
      await collection.upsertMany([{ _id: 'bob', name: 'B' }]);
      expect(await stored()).toEqual([
        { name: 'A', age: 18 },
        { name: 'B', age: 18 },
      ]);
    });

    test('update', async () => {
      const collection = await withAda();
      await refused(collection.update('ada', broken), 'document.name');
      expect(await stored()).toEqual([ada]);
      const found = await collection.get('ada');
      expect(await collection.update('ada', { ...found, name: 'A' })).toMatchObject({
        _id: 'ada',
        _updated: true,
        name: 'A',
      });
      expect(await collection.update('nobody', ada)).toBe(undefined);
    });

    test('patch with fields and with operators checks the whole document', async () => {
      const collection = await withAda();
      await refused(collection.patch('ada', { name: '' }), 'document.name');
      await refused(collection.patch('ada', { $inc: { age: -40 } }), 'document.age');
      await refused(collection.patch('ada', { $unset: { name: true } }), 'document.name');
      await refused(
        collection.patch('ada', { 'address.city': 5 as never }),
        'document.address.city',
      );
      expect(await stored()).toEqual([ada]);
      expect((await collection.get('ada'))?._updated).toBe(false);
      expect(await collection.patch('ada', { 'address.city': 'Oslo' })).toMatchObject({
        _updated: true,
        name: 'Ada',
        address: { city: 'Oslo' },
      });
      expect(await collection.patch('ada', { $inc: { age: 1 }, $push: { tags: 'a' } })).toEqual({
        ...{ _id: 'ada', _updated: true, _archived: false },
        ...{ name: 'Ada', age: 37, tags: ['a'], address: { city: 'Oslo' } },
      });
      // The schema fills in what is missing then.
      expect((await collection.patch('ada', { $unset: { age: true } }))?.age).toBe(18);
      expect(await collection.patch('nobody', { age: 1 })).toBe(undefined);
    });

    test('patches made at the same time lose nothing, and later calls wait for them', async () => {
      const collection = await withAda();
      const patches = Array.from({ length: 20 }, () =>
        collection.patch('ada', { $inc: { age: 1 } }),
      );
      const seen = collection.get('ada');
      await Promise.all(patches);
      expect((await seen)?.age).toBe(56);
    });

    test('patchMany is all or none', async () => {
      const collection = people();
      const many = Array.from({ length: 450 }, (_, age) => ({ _id: `p${age}`, name: 'x', age }));
      await collection.insertMany(many);
      await collection.archive('p3');
      const error = await refused(collection.patchMany({}, { $inc: { age: -9 } }), 'document.age');
      expect(error.message).toContain('"p0"');
      expect(await stored()).toEqual(own(many.filter(({ age }) => age !== 3)));
      expect(await collection.patchMany({ age: { $gte: 9 } }, { $inc: { age: -9 } })).toBe(441);
      expect((await collection.get('p449'))?.age).toBe(440);
      expect((await collection.get('p8'))?._updated).toBe(false);
      const only = 'p5';
      const set = { tags: ['five'] };
      expect(await collection.patchMany(({ _id }) => _id === only, set)).toBe(1);
      const seen = collection.patchMany({ tags: 'five' }, { name: 'Five' });
      expect((await collection.get('p5'))?.name).toBe('Five');
      expect(await seen).toBe(1);
      expect(await collection.patchMany({ name: 'nobody' }, { name: '' })).toBe(0);
    });

    test('modify', async () => {
      const collection = await withAda();
      await refused(
        collection.modify('ada', () => broken),
        'document.name',
      );
      await refused(
        collection.modify('ada', async () => broken),
        'document.name',
      );
      expect(await stored()).toEqual([ada]);
      expect(own([(await collection.modify('ada', ({ name }) => ({ name }))) as object])).toEqual([
        { name: 'Ada', age: 18 },
      ]);
    });

    test('transactions: a refusal stages nothing, and may be caught', async () => {
      const collection = await withAda();
      const left = await fixture.db.transaction(async (tx) => {
        const inside = tx(collection);
        await refused(inside.insert(broken), 'document.name');
        await refused(inside.insertMany([ada, broken]), 'documents[1].name');
        await refused(inside.upsert({ _id: 'ada', ...broken }), 'document.name');
        await refused(inside.update('ada', broken), 'document.name');
        await refused(inside.patch('ada', { $inc: { age: -99 } }), 'document.age');
        await refused(inside.patchMany({}, { $inc: { age: -99 } }), 'document.age');
        expect(own([(await inside.get('ada')) as object])).toEqual([ada]);
        await inside.insert({ _id: 'eve', name: 'Eve' });
        await inside.patch('ada', { $inc: { age: 1 } });
        return await inside.patchMany({}, { $inc: { age: 1 } });
      });
      expect(left).toBe(2);
      expect(await stored()).toEqual([
        { name: 'Ada', age: 38 },
        { name: 'Eve', age: 19 },
      ]);
    });

    test('importBackup and importAll check each document, all or none', async () => {
      await fixture.renew();
      const source = fixture.documents({ name: 'people' }) as DocumentCollection;
      const exported = async () => {
        const name = await source.createBackup();
        const file = await new Response(await source.exportBackup(name)).blob();
        const all = await new Response(await fixture.db.exportAll()).blob();
        return { file, all };
      };
      await source.insertMany([
        { _id: 'a', name: 'A' },
        { _id: 'b', name: 'B', age: 3 },
      ]);
      const good = await exported();
      await source.insert({ _id: 'c', name: '' });
      const bad = await exported();
      await source.deleteMany({});

      const collection = people();
      await collection.insert({ _id: 'z', ...ada });
      const calls = [() => collection.importBackup(bad.file), () => fixture.db.importAll(bad.all)];
      for (const call of calls) {
        expect((await refused(call(), 'document.name')).message).toContain('"c"');
        expect(await stored()).toEqual([ada]);
      }
      const names = [
        { name: 'A', age: 18 },
        { name: 'B', age: 3 },
      ];
      expect(await collection.importBackup(good.file)).toBe(2);
      expect(await stored()).toEqual(names);
      await collection.deleteMany({});
      await fixture.db.importAll(good.all);
      expect(await stored()).toEqual(names);
    });

    if (fixture.kind.engine !== 'thread' || !fixture.caching) return;

    test('collection.sync', async () => {
      const collection = people();
      await collection.ready;
      const { sync } = collection;
      const code = { code: 'schema_violation' };
      expect(sync.insert({ _id: 'ada', name: 'Ada' }).age).toBe(18);
      expect(() => sync.insert(broken)).toThrow(expect.objectContaining(code));
      expect(() => sync.patch('ada', { $inc: { age: -19 } })).toThrow(
        expect.objectContaining(code),
      );
      expect(() => sync.patchMany({}, { name: '' })).toThrow(expect.objectContaining(code));
      expect(sync.patch('ada', { $inc: { age: 1 } })?.age).toBe(19);
      expect(sync.patchMany({}, { $inc: { age: 1 } })).toBe(1);
      expect(own(sync.filter({}))).toEqual([{ name: 'Ada', age: 20 }]);
    });
  });
}
