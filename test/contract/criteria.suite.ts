import { describe, expect, test } from 'vitest';
import type { DocumentCollection, Params } from '../../src/index.ts';
import type { ClientFixture } from './client-fixture.ts';
import { LiveLog } from './live-log.ts';
import { idsOf, rejection } from './outcomes.ts';

const PEOPLE = [
  { _id: 'ada', name: 'Ada', age: 36, tags: ['math', 'code'], home: { city: 'London' } },
  { _id: 'bob', name: 'Bob', age: 20, tags: [], home: { city: 'Oslo' }, nick: null },
  { _id: 'cyd', name: 'cyd', age: 52, tags: ['code'], pets: [{ kind: 'cat', age: 3 }] },
  { _id: 'dan', name: 'Dan', born: new Date(86_400_000), size: 12n, pets: [{ kind: 'dog' }] },
];

/** Criteria, by meaning, with the ids of the matches. */
const CASES: [string, object, string[]][] = [
  ['{} matches everything', {}, ['ada', 'bob', 'cyd', 'dan']],
  ['equality', { name: 'Ada' }, ['ada']],
  ['equality on _id', { _id: 'bob' }, ['bob']],
  ['every listed field', { name: 'Ada', age: 20 }, []],
  ['a dotted path', { 'home.city': 'Oslo' }, ['bob']],
  ['a whole object', { home: { city: 'Oslo' } }, ['bob']],
  ['a value equals an item of an array', { tags: 'code' }, ['ada', 'cyd']],
  ['an array equals the whole array', { tags: ['code'] }, ['cyd']],
  ['a path through an array', { 'pets.kind': 'dog' }, ['dan']],
  ['a path with an index', { 'tags.0': 'code' }, ['cyd']],
  ['null matches null and missing', { nick: null }, ['ada', 'bob', 'cyd', 'dan']],
  ['a date', { born: new Date(86_400_000) }, ['dan']],
  ['a RegExp', { name: /^[a-c]/i }, ['ada', 'bob', 'cyd']],
  ['$eq', { age: { $eq: 20 } }, ['bob']],
  ['$ne', { age: { $ne: 20 } }, ['ada', 'cyd', 'dan']],
  ['$gt', { age: { $gt: 36 } }, ['cyd']],
  ['$gte', { age: { $gte: 36 } }, ['ada', 'cyd']],
  ['$lt', { age: { $lt: 36 } }, ['bob']],
  ['$lte', { age: { $lte: 36 } }, ['ada', 'bob']],
  ['$gt between bigint and number', { size: { $gt: 11 } }, ['dan']],
  ['$lt on a date', { born: { $lt: new Date(86_400_001) } }, ['dan']],
  ['$in', { name: { $in: ['Ada', /^B/] } }, ['ada', 'bob']],
  ['$nin', { name: { $nin: ['Ada', /^B/] } }, ['cyd', 'dan']],
  ['$and', { $and: [{ age: { $gt: 10 } }, { tags: 'math' }] }, ['ada']],
  ['$or', { $or: [{ name: 'Ada' }, { name: 'Dan' }] }, ['ada', 'dan']],
  ['$nor', { $nor: [{ name: 'Ada' }, { name: 'Dan' }] }, ['bob', 'cyd']],
  ['$not', { age: { $not: { $gt: 30 } } }, ['bob', 'dan']],
  ['$exists: true counts null', { nick: { $exists: true } }, ['bob']],
  ['$exists: false', { age: { $exists: false } }, ['dan']],
  ['$type', { born: { $type: 'date' } }, ['dan']],
  ['$regex with $options', { name: { $regex: '^C', $options: 'i' } }, ['cyd']],
  ['$size', { tags: { $size: 2 } }, ['ada']],
  ['$all', { tags: { $all: ['code', 'math'] } }, ['ada']],
  ['$elemMatch', { pets: { $elemMatch: { kind: 'cat', age: { $lt: 5 } } } }, ['cyd']],
  ['$mod', { age: { $mod: [10, 0] } }, ['bob']],
  ['several operators on a field', { age: { $gt: 20, $lt: 50 } }, ['ada']],
];

/** The object form of `params`, and `options.archived`. */
export function criteriaSuite(fixture: ClientFixture): void {
  describe('criteria', () => {
    const people = async (): Promise<DocumentCollection> => {
      const collection = fixture.documents();
      await collection.insertMany(PEOPLE);
      await collection.save();
      return collection;
    };

    test('have the meaning of MongoDB', async () => {
      const collection = await people();
      for (const [meaning, criteria, expected] of CASES) {
        const params = criteria as Params;
        const answers = {
          meaning,
          filter: idsOf(await collection.filter(params)),
          find: (await collection.find(params))?._id,
          has: await collection.has(params),
          count: await collection.count(params),
        };
        expect(answers).toEqual({
          meaning,
          filter: expected,
          find: expected[0],
          has: expected.length > 0,
          count: expected.length,
        });
      }
    });

    test('match managed fields', async () => {
      const collection = fixture.documents({ indicate_created_timestamp: true });
      const stored = await collection.insert({ n: 1 });
      await collection.insert({ n: 2 });
      await collection.update(stored._id, { n: 1 });
      const { _created_timestamp } = stored;
      expect(idsOf(await collection.filter({ _updated: true, _created_timestamp }))).toEqual([
        stored._id,
      ]);
    });

    test('match current values of documents, saved or not', async () => {
      const collection = await people();
      await collection.patch('ada', { age: 37 });
      expect(idsOf(await collection.filter({ age: 37 }))).toEqual(['ada']);
      expect(await collection.filter({ age: 36 })).toEqual([]);
      await collection.save();
      expect(idsOf(await collection.filter({ age: 37 }))).toEqual(['ada']);
      await fixture.reopen();
      expect(idsOf(await fixture.documents().filter({ age: { $in: [36, 37] } }))).toEqual(['ada']);
    });

    test('are copied: changing them after the call has no effect', async () => {
      const collection = await people();
      const criteria = { name: { $in: ['Ada'] } };
      const found = collection.filter(criteria);
      criteria.name.$in.push('Bob');
      expect(idsOf(await found)).toEqual(['ada']);
    });

    const WRONG: [object, string][] = [
      [{ age: { $gtt: 1 } }, 'operator_unknown'],
      [{ $xor: [{}] }, 'operator_unknown'],
      [{ age: { $in: 5 } }, 'operand_invalid'],
      [{ age: { $mod: [1] } }, 'operand_invalid'],
      [{ name: { $regex: '(' } }, 'operand_invalid'],
      [{ tags: { $size: -1 } }, 'operand_invalid'],
      [{ $or: [] }, 'operand_invalid'],
      [{ name: { $type: 'nothing' } }, 'operand_invalid'],
    ];

    test('that are wrong reject with their place, in every method', async () => {
      const collection = await people();
      for (const [criteria, code] of WRONG) {
        const params = criteria as Params;
        for (const call of [
          () => collection.find(params),
          () => collection.filter(params),
          () => collection.has(params),
          () => collection.count(params),
          () => collection.deleteMany(params),
        ]) {
          const error = await rejection(call());
          expect(error instanceof fixture.lib.CriteriaError).toBe(true);
          expect(error).toMatchObject({ code });
          expect(error.place?.includes(Object.keys(criteria)[0] as string)).toBe(true);
        }
      }
      expect(await collection.count()).toBe(4);
    });

    test('with an unknown operator reject with its name and the nearest known one', async () => {
      const { message } = await rejection(fixture.documents().find({ age: { $gtt: 1 } }));
      expect(message.includes('$gtt') && message.includes('$gt')).toBe(true);
    });

    test('that are wrong reject with the name of the collection', async () => {
      const things = fixture.documents();
      const { _id } = await things.insert({ name: 'Ada', long: 'x' });
      const values = fixture.keyValues();
      await values.set('list', [1]);
      const gone = await things.insert({});
      await things.delete(gone._id);
      for (const [call, code, collection] of [
        [() => things.find({ age: { $gtt: 1 } }), 'operator_unknown', things],
        [() => things.filter({ age: { $in: 5 } } as never), 'operand_invalid', things],
        [() => things.deleteMany({ $or: [] }), 'operand_invalid', things],
        [() => things.count({ long: { $regex: '[[:alpha:]]' } }), 'operand_invalid', things],
        [() => things.count({}, { sort: { a: 2 } } as never), 'sort_invalid', things],
        [() => things.filter({}, { sort: { a: 2 } as never }), 'sort_invalid', things],
        [() => things.filter({}, { select: [''] as never }), 'select_invalid', things],
        [() => things.filter({}, { after: { _id: gone._id } as never }), 'after_unknown', things],
        [() => things.find(5 as never), 'criteria_invalid', things],
        [() => things.filter({}, { sort: (() => 1) as never }), 'sort_invalid', things],
        [() => things.filter({}, { select: (() => 1) as never }), 'select_invalid', things],
        [() => things.filter(async () => true), 'predicate_async', things],
        [() => values.filter('list', async () => true), 'predicate_async', values],
        [() => values.filter('list', { $gtt: 1 } as never), 'operator_unknown', values],
        [async () => things.live(5 as never), 'criteria_invalid', things],
        [() => things.live(async () => true).ready, 'predicate_async', things],
        [() => things.live({ [_id]: { $gtt: 1 } } as never).ready, 'operator_unknown', things],
      ] as const) {
        const error = await rejection(call());
        expect([error instanceof fixture.lib.CriteriaError, error.code]).toEqual([true, code]);
        const named = error.message.split(`Collection "${collection.name}": `).length - 1;
        expect({ code, message: error.message, named }).toMatchObject({ code, named: 1 });
      }
    });

    test('have to be an object or a function', async () => {
      const collection = await people();
      for (const params of [undefined, null, 5, 'Ada', true, ['Ada'], new Date(0), /A/]) {
        for (const method of ['find', 'filter', 'has', 'deleteMany'] as const) {
          await expect(collection[method](params as never)).rejects.toMatchObject({
            code: 'criteria_invalid',
          });
        }
      }
      expect(await collection.count()).toBe(4);
    });

    test('never reach a prototype', async () => {
      const collection = await people();
      expect(await collection.has({ constructor: { $exists: true } } as never)).toBe(false);
      expect(await collection.has({ 'constructor.name': 'Object' })).toBe(false);
      expect(await collection.has({ toString: { $exists: true } } as never)).toBe(false);
      const own = JSON.parse('{ "__proto__": { "name": "Ada" } }') as Params;
      for (const params of [own, { 'home.__proto__.city': 1 }, { $or: [own] }]) {
        const error = await rejection(collection.find(params as Params));
        expect(error instanceof fixture.lib.CriteriaError).toBe(true);
      }
    });
  });

  describe('find, filter, has and count', () => {
    test('return the first match in order of insertion, or undefined', async () => {
      const things = fixture.documents<{ n: number }>();
      expect(await things.find({})).toBe(undefined);
      expect(await things.filter({})).toEqual([]);
      expect(await things.has({})).toBe(false);
      expect(await things.count()).toBe(0);
      for (const n of [3, 1, 2]) await things.insert({ n });
      expect(await things.find({ n: { $lt: 3 } })).toMatchObject({ n: 1 });
      expect((await things.filter({ n: { $lt: 3 } })).map(({ n }) => n)).toEqual([1, 2]);
      expect(await things.find({ n: 9 })).toBe(undefined);
    });

    test('archived: false is the default, true adds archived documents, "only" takes these alone', async () => {
      const things = fixture.documents<{ n: number }>();
      await things.insertMany([1, 2, 3].map((n) => ({ _id: String(n), n })));
      await things.archive('2');
      const all = { n: { $gt: 0 } };
      for (const params of [all, () => true] as Params<{ n: number }>[]) {
        for (const [options, expected] of [
          [undefined, ['1', '3']],
          [{}, ['1', '3']],
          [{ archived: undefined }, ['1', '3']],
          [{ archived: false }, ['1', '3']],
          [{ archived: true }, ['1', '2', '3']],
          [{ archived: 'only' }, ['2']],
        ] as const) {
          expect(idsOf(await things.filter(params, options))).toEqual(expected);
          expect((await things.find(params, options))?._id).toBe(expected[0]);
          expect(await things.count(params, options)).toBe(expected.length);
          const second = { n: 2 };
          expect(await things.has(second, options)).toBe(expected.join().includes('2'));
        }
      }
      expect(await things.count()).toBe(2);
      expect(await things.count(undefined, { archived: 'only' })).toBe(1);
    });

    test('deleteMany takes archived like filter', async () => {
      const things = fixture.documents<{ n: number }>();
      await things.insertMany([1, 2, 3, 4].map((n) => ({ _id: String(n), n })));
      await things.archive('2');
      await things.archive('3');
      expect(await things.deleteMany({ n: 2 })).toBe(0);
      expect(await things.deleteMany(({ n }) => n < 3, { archived: 'only' })).toBe(1);
      expect(await things.deleteMany({ n: { $gt: 2 } }, { archived: true })).toBe(2);
      expect(idsOf(await things.filter({}, { archived: true }))).toEqual(['1']);
    });

    test('refuse unknown options', async () => {
      const things = fixture.documents();
      await things.insert({});
      for (const [options, code, place] of [
        [{ archived: 'yes' }, 'option_invalid', 'archived'],
        [{ archived: 1 }, 'option_invalid', 'archived'],
        [{ archive: true }, 'option_unknown', 'archive'],
        ['only', 'option_invalid', 'options'],
        [new Map([['archived', true]]), 'option_invalid', 'options'],
        [[], 'option_invalid', 'options'],
      ] as const) {
        for (const method of ['find', 'filter', 'has', 'count', 'deleteMany'] as const) {
          const call = things[method]({}, options as never);
          await expect(call).rejects.toMatchObject({ code, place });
        }
      }
      expect(await things.count()).toBe(1);
    });

    test('$expr compares fields with each other, everywhere', async () => {
      const things = fixture.documents<any>({ indexes: ['spent'] });
      await things.insertMany([
        { _id: 'a', spent: 5, budget: 3, tags: ['x'] },
        { _id: 'b', spent: 2, budget: 3, tags: [] },
        { _id: 'c', spent: 9, budget: 9 },
      ]);
      const over = { $expr: { $gt: ['$spent', '$budget'] } };
      const ids = async (criteria: object) =>
        (await things.filter(criteria)).map(({ _id }: { _id: string }) => _id).join('');
      expect(await ids(over)).toBe('a');
      expect(await ids({ $nor: [over] })).toBe('bc');
      expect(await ids({ $or: [over, { spent: 9 }], $comment: 'why' })).toBe('ac');
      expect(await ids({ spent: { $lt: 9 }, $expr: { $eq: [{ $size: '$tags' }, 0] } })).toBe('b');
      expect(await ids({ $expr: { $eq: ['$_id', 'c'] } })).toBe('c');
      expect(await ids({ $expr: { $eq: [{ $type: '$$ROOT' }, 'object'] } })).toBe('abc');
      expect(await things.count(over)).toBe(1);
      expect(await things.has(over)).toBe(true);
      expect((await things.explain({ spent: 5, ...over })).returned).toBe(1);
      const log = new LiveLog(things.live(over));
      await log.until((data) => data.length === 1);
      expect(await things.patchMany(over, { $inc: { budget: 1 } })).toBe(1);
      expect(
        await things.patchOne({ $expr: { $eq: ['$spent', '$budget'] } }, { $inc: { spent: 1 } }),
      ).toMatchObject({ _id: 'c', spent: 10 });
      await log.until((data) => data.length === 2);
      log.stop();
      const moved = await fixture.db.transaction(async (tx) => {
        const found = await tx(things).filter(over);
        await tx(things).deleteMany(over);
        return found.length;
      });
      expect(moved).toBe(2);
      expect(await ids({})).toBe('b');
    });

    test('$expr says where it is wrong, and where it may not stand', async () => {
      const things = fixture.documents<any>();
      await things.insert({ a: 'x', list: [{ n: 1 }] });
      const rows: [object, string, string][] = [
        [{ $expr: { $ad: ['$a', 1] } }, 'operator_unknown', '$expr.$ad'],
        [{ $or: [{ $expr: { $gt: [1] } }] }, 'operand_invalid', '$or[0].$expr.$gt'],
        [{ $expr: { $add: ['$a', 1] } }, 'operand_invalid', '$expr.$add'],
        [{ list: { $elemMatch: { $expr: true } } }, 'operator_unknown', 'list.$elemMatch.$expr'],
      ];
      for (const [criteria, code, place] of rows)
        expect(await rejection(things.filter(criteria))).toMatchObject({ code, place });
      const pulling = things.patchMany({}, { $pull: { list: { $expr: true } } } as never);
      expect(await rejection(pulling)).toMatchObject({ code: 'operator_unknown' });
    });

    test('$bitsAllSet and its kin test bits', async () => {
      const things = fixture.documents<any>();
      await things.insertMany([
        { _id: 'a', v: 0b1010 },
        { _id: 'b', v: 0b0110n },
        { _id: 'c', v: new Uint8Array([0b1000, 0b1]) },
        { _id: 'd', v: -1 },
        { _id: 'e', v: 1.5 },
        { _id: 'f', v: 'text' },
        { _id: 'g' },
      ]);
      const ids = async (v: object) =>
        (await things.filter({ v })).map(({ _id }: { _id: string }) => _id).join('');
      expect(await ids({ $bitsAllSet: 0b1010 })).toBe('ad');
      expect(await ids({ $bitsAllSet: [1, 2] })).toBe('bd');
      expect(await ids({ $bitsAnySet: 0b1100 })).toBe('abcd');
      expect(await ids({ $bitsAllSet: [8] })).toBe('cd');
      expect(await ids({ $bitsAllClear: [0, 2] })).toBe('ac');
      expect(await ids({ $bitsAnyClear: new Uint8Array([0b0110]) })).toBe('ac');
      expect(await ids({ $bitsAllSet: [200] })).toBe('d');
      expect(await ids({ $not: { $bitsAnySet: 1 } })).toBe('abcefg');
      for (const wrong of [-1, 1.5, 'x', [1, -1], null])
        expect(await rejection(things.filter({ v: { $bitsAllSet: wrong } }))).toMatchObject({
          ...{ code: 'operand_invalid', place: 'v.$bitsAllSet' },
        });
    });
  });
}
