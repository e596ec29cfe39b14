import { describe, expect, test } from 'vitest';
import type { DocumentCollection, FindOptions, IndexOption, Params } from '../../src/index.ts';
import type { ClientFixture } from './client-fixture.ts';
import { allOf, EventLog, idsOf } from './outcomes.ts';

const DAY = 86_400_000;

const PEOPLE = [
  { _id: 'a', region: 'eu', age: 30, tags: ['x', 'y'], born: new Date(3 * DAY), mix: 'b' },
  { _id: 'b', region: 'us', age: 20, tags: 'x', born: new Date(DAY), mix: 3, home: { city: 'A' } },
  { _id: 'c', region: 'eu', age: 20, tags: [], born: new Date(2 * DAY), mix: true },
  { _id: 'd', region: 'us', age: 40, tags: ['y', 'y', 'z'], mix: null, home: { city: 'B' } },
  { _id: 'e', region: 'eu', age: 20n, tags: ['z', 5], mix: [1, 'c'], home: [{ city: 'B' }] },
  { _id: 'f', age: '20', mix: { deep: 1 }, home: { city: 'A' } },
  { _id: 'g', region: 'eu', mix: new Date(5) },
];

/** Queries, with the index below that serves them. */
const QUESTIONS: [Params, FindOptions, string | undefined][] = [
  [{ age: 20 }, {}, 'age'],
  [{ age: { $gte: 20, $lt: 40 } }, {}, 'age'],
  [{ age: { $in: [40, '20'] } }, {}, 'age'],
  [{ age: null }, {}, 'age'],
  [{ age: { $gt: 25 }, mix: 'b' }, { sort: { age: -1 } }, 'age'],
  [{}, { sort: { age: 1 }, limit: 3 }, 'age'],
  [{}, { sort: { age: -1 }, skip: 2, limit: 3 }, 'age'],
  [{ region: 'eu', age: 20 }, {}, 'region,age'],
  [{ region: 'eu' }, { sort: { age: 1 } }, 'region,age'],
  [{ region: { $regex: '^u' } }, {}, 'region,age'],
  [{ tags: 'x' }, {}, 'tags'],
  [{ tags: { $all: ['y', 'z'] } }, {}, 'tags'],
  [{ tags: { $in: ['z', 5] } }, { sort: { age: 1 } }, 'tags'],
  [{ born: { $lt: new Date(3 * DAY) } }, {}, 'born'],
  [{ born: new Date(2 * DAY) }, {}, 'born'],
  [{ 'home.city': 'B' }, {}, 'home.city'],
  [{ mix: { $gt: 1 } }, {}, 'mix'],
  [{ mix: true }, {}, 'mix'],
  [{ mix: 'c' }, {}, 'mix'],
  [{ $or: [{ age: 40 }, { tags: 'x' }] }, {}, undefined],
  [{ _id: { $in: ['d', 'b', 'q'] } }, {}, undefined],
  [{ age: { $exists: false } }, {}, undefined],
];

const INDEXES: IndexOption[] = [
  'age',
  { fields: ['region', 'age'] },
  { fields: 'tags', multi: true },
  'born',
  'home.city',
  { fields: 'mix' },
];

/** Concurrent calls share a message: one by one, they take ten times as long with a worker. */
const answers = (collection: DocumentCollection, params: Params, options: FindOptions) =>
  Promise.all([
    collection.filter(params, options),
    collection.find(params, options),
    collection.count(params, options),
    allOf(collection.each(params, options)),
  ]);

/** The same answers, derived from `filter`. */
const answersOf = (found: readonly object[]) => [found, found[0], found.length, found];

const planOf = async (collection: DocumentCollection, params: Params, options?: FindOptions) => {
  const { plan } = await collection.explain(params, options);
  return plan.kind === 'index' ? plan.index : plan.kind;
};

/** The option `indexes`: results equal those of a scan after any change. */
export function indexesSuite(fixture: ClientFixture): void {
  describe('indexes', () => {
    /** The expected answers: the same documents in a collection without indexes. */
    const expectAnswersOfScan = async (collection: DocumentCollection) => {
      const plain = fixture.documents({ name: 'plain', activate_drop_method: true });
      const copies = await collection.filter({}, { archived: true });
      await plain.insertMany(copies);
      for (const { _id, _archived } of copies) if (_archived) await plain.archive(_id);
      const unstamped = (found: unknown) =>
        JSON.parse(
          JSON.stringify(found, (key, value) => {
            if (key === '_updated' || key.endsWith('_at')) return undefined;
            return typeof value === 'bigint' ? `${value}n` : value;
          }),
        );
      const checks = QUESTIONS.flatMap(([params, options]) =>
        ([false, true, 'only'] as const).map(async (archived) => {
          const all = { ...options, archived };
          const [found, wanted] = await Promise.all([
            answers(collection, params, all),
            plain.filter(params, all),
          ]);
          expect({ params, all, found: unstamped(found) }).toEqual({
            params,
            all,
            found: unstamped(answersOf(wanted)),
          });
        }),
      );
      await Promise.all(checks);
      await plain.Drop();
    };

    test('declared from the start return the results of a scan', async () => {
      const things = fixture.documents({ indexes: INDEXES });
      await things.insertMany(PEOPLE);
      for (const [params, options, index] of QUESTIONS) {
        if (index) expect([params, await planOf(things, params, options)]).toEqual([params, index]);
      }
      await expectAnswersOfScan(things);
    });

    test('follow every change, saved or not, and survive a reload', async () => {
      let things = fixture.documents({ indexes: INDEXES });
      await things.insertMany(PEOPLE);
      await things.save();
      await things.update('a', { region: 'us', age: 41, tags: ['z'], mix: 7 });
      await things.patch('b', { age: 50, 'home.city': 'B', tags: ['y'] });
      await things.archive('d');
      await things.archive('c');
      await things.unarchive('c');
      await things.delete('g');
      await things.upsert({ _id: 'g', region: 'us', age: 20 });
      await things.upsert({ _id: 'e', region: 'us', age: 19, tags: 'x', born: new Date(0) });
      await expectAnswersOfScan(things);
      await things.save();
      await expectAnswersOfScan(things);
      await fixture.reopen();
      things = fixture.documents({ indexes: INDEXES });
      await expectAnswersOfScan(things);
      expect(await things.deleteMany({ age: { $gte: 20 } })).toBe(4);
      expect(await things.deleteMany({ tags: 'x' }, { archived: true })).toBe(1);
      await expectAnswersOfScan(things);
    });

    test('added later are built over existing documents, with progress events', async () => {
      await fixture
        .documents()
        .insertMany([
          ...PEOPLE,
          ...Array.from({ length: 300 }, (_, n) => ({ age: n, pad: 'x'.repeat(1000) })),
        ]);
      await fixture.reopen();
      const things = fixture.documents({ indexes: INDEXES });
      const log = new EventLog(things, 'index');
      await log.until((events) => events.at(-1)?.documents === 307);
      const steps = log.events.map(({ documents }) => documents);
      expect(steps).toEqual(steps.toSorted((a, b) => a - b));
      const { name } = things;
      expect(
        log.events.every(({ collection, total }) => collection === name && total === 307),
      ).toBe(true);
      await things.deleteMany({ pad: { $exists: true } });
      await expectAnswersOfScan(things);

      await fixture.reopen();
      const again = fixture.documents({ indexes: INDEXES });
      const later = new EventLog(again, 'index');
      await again.ready;
      await expectAnswersOfScan(again);
      expect(later.events).toEqual([]);
    });

    test('no longer declared are dropped, and built anew when declared again', async () => {
      await fixture.documents({ indexes: ['age'] }).insertMany(PEOPLE);
      await fixture.reopen();
      const without = fixture.documents();
      expect(await planOf(without, { age: 20 })).toBe('scan');
      await without.patch('a', { age: 20 });
      await without.patch('b', { age: 1 });
      await without.delete('c');
      await without.insert({ _id: 'h', age: 20 });
      await fixture.reopen();
      const things = fixture.documents({ indexes: ['age'] });
      expect(idsOf(await things.filter({ age: 20 }))).toEqual(['a', 'e', 'h']);
      expect(await planOf(things, { age: 20 })).toBe('age');
      await expectAnswersOfScan(things);
    });

    test('with a changed declaration are built anew', async () => {
      const declarations: IndexOption[][] = [
        ['age', 'tags'],
        [{ fields: 'tags', multi: true }],
        [{ fields: ['age', 'region'] }, 'mix'],
        [{ fields: ['region', 'age'] }],
        INDEXES,
        [],
      ];
      await fixture.documents().insertMany(PEOPLE);
      for (const [at, indexes] of declarations.entries()) {
        await fixture.reopen();
        const things = fixture.documents({ indexes });
        await things.patch('a', { age: 30 + at });
        await expectAnswersOfScan(things);
      }
    });

    test('may use managed fields in the form that the options enable', async () => {
      const indexes = ['_created_timestamp', '_archived', '_updated'];
      let things = fixture.documents({ indexes, indicate_created_timestamp: true });
      const [a] = await things.insertMany([{ _id: 'a' }, { _id: 'b' }, { _id: 'c' }]);
      const params = { _created_timestamp: a?._created_timestamp } as Params;
      await things.archive('b');
      await things.update('c', {});
      const check = async (stamped: string[]) => {
        expect(await planOf(things, params)).toBe('_created_timestamp');
        expect(idsOf(await things.filter(params))).toEqual(stamped);
        expect(await planOf(things, { _archived: true })).toBe('_archived');
        expect(idsOf(await things.filter({ _archived: true }, { archived: true }))).toEqual(['b']);
        expect(idsOf(await things.filter({ _updated: true }))).toEqual(['c']);
      };
      await check(['a', 'c']);
      await fixture.reopen();
      things = fixture.documents({ indexes });
      await check([]);
      await fixture.reopen();
      things = fixture.documents({ indexes, indicate_created_timestamp: true });
      await check(['a', 'c']);
    });

    test('sort values of all types like a scan', async () => {
      const values = [
        ...[5, 'b', true, null, new Date(1), 2n ** 70n, 'a', -1, false, undefined, Number.NaN],
        ...[new Date(0), '', Number.POSITIVE_INFINITY, 5n, 0, '10', '9', new Date(Number.NaN)],
      ];
      const documents = values.map((v, at) => ({ _id: `${at}`, v }));
      const plain = fixture.documents<{ v: unknown }>({ name: 'without' });
      let things = fixture.documents<{ v: unknown }>({ indexes: ['v'] });
      await plain.insertMany(documents);
      await things.insertMany(documents);
      for (let round = 0; round < 2; round++) {
        for (const direction of [1, -1] as const) {
          const options = { sort: { v: direction } };
          expect((await things.explain({}, { ...options, limit: 5 })).plan.kind).toBe('index');
          const wanted = idsOf(await plain.filter({}, options));
          expect(idsOf(await things.filter({}, options))).toEqual(wanted);
          expect(idsOf(await things.filter({}, { ...options, skip: 3, limit: 9 }))).toEqual(
            wanted.slice(3, 12),
          );
        }
        await things.save();
        if (round > 0) break;
        await plain.patch('3', { v: 'zz' });
        await things.patch('3', { v: 'zz' });
        things = fixture.documents<{ v: unknown }>({ indexes: ['v'] });
      }
    });
  });
}
