import { describe, expect, test } from 'vitest';
import type { ClientFixture } from './client-fixture.ts';
import { LiveLog } from './live-log.ts';
import { own, rejection } from './outcomes.ts';

interface Order {
  city?: string | null;
  amount: number;
  tags?: string[];
  paid?: boolean;
}

const ORDERS: (Order & { _id: string })[] = [
  { _id: 'a', city: 'Oslo', amount: 5, tags: ['new', 'big'], paid: true },
  { _id: 'b', city: 'Rome', amount: 7.5, paid: true },
  { _id: 'c', city: 'Oslo', amount: 0.1, tags: [] },
  { _id: 'd', amount: 0.2, tags: ['new'] },
  { _id: 'e', city: null, amount: 3 },
];

const TOTALS = [
  { $group: { _id: '$city', total: { $sum: '$amount' }, orders: { $count: {} } } },
] as const;

const EXPECTED = [
  { _id: 'Oslo', total: 5.1, orders: 2 },
  { _id: 'Rome', total: 7.5, orders: 1 },
  { _id: null, total: 3.2, orders: 2 },
];

/** Pipelines that the engine refuses, with code and place. */
const REFUSED: [pipeline: unknown, code: string, place: string][] = [
  [undefined, 'pipeline_invalid', 'pipeline'],
  [{ $match: {} }, 'pipeline_invalid', 'pipeline'],
  [['$match'], 'pipeline_invalid', 'pipeline[0]'],
  [[{}], 'pipeline_invalid', 'pipeline[0]'],
  [[{ $match: {}, $limit: 1 }], 'pipeline_invalid', 'pipeline[0]'],
  [[{ $limit: 1 }, { $grup: {} }], 'operator_unknown', 'pipeline[1].$grup'],
  [[{ $match: () => true }], 'pipeline_invalid', 'pipeline[0].$match'],
  [[{ $match: { a: { $gtt: 1 } } }], 'operator_unknown', 'pipeline[0].$match.a.$gtt'],
  [[{ $match: 5 }], 'criteria_invalid', 'pipeline[0].$match'],
  [[{ $limit: 0 }], 'operand_invalid', 'pipeline[0].$limit'],
  [[{ $skip: -1 }], 'operand_invalid', 'pipeline[0].$skip'],
  [[{ $sort: { a: 2 } }], 'sort_invalid', 'pipeline[0].$sort.a'],
  [[{ $group: { total: { $sum: 1 } } }], 'operand_invalid', 'pipeline[0].$group._id'],
  [
    [{ $group: { _id: null, total: { $summ: 1 } } }],
    'operator_unknown',
    'pipeline[0].$group.total.$summ',
  ],
  [[{ $group: { _id: null, 'a.b': { $sum: 1 } } }], 'operand_invalid', 'pipeline[0].$group.a.b'],
  [[{ $group: { _id: null, total: 1 } }], 'operand_invalid', 'pipeline[0].$group.total'],
  [[{ $project: {} }], 'operand_invalid', 'pipeline[0].$project'],
  [[{ $project: { a: 1, b: 0 } }], 'operand_invalid', 'pipeline[0].$project.b'],
  [[{ $project: { a: 1, 'a.b': 1 } }], 'operand_invalid', 'pipeline[0].$project.a.b'],
  [[{ $project: { a: { $nope: 1 } } }], 'operator_unknown', 'pipeline[0].$project.a.$nope'],
  [[{ $set: { $a: 1 } }], 'operand_invalid', 'pipeline[0].$set.$a'],
  [[{ $unset: [] }], 'operand_invalid', 'pipeline[0].$unset'],
  [[{ $unset: ['a', 5] }], 'operand_invalid', 'pipeline[0].$unset[1]'],
  [[{ $unwind: 'tags' }], 'operand_invalid', 'pipeline[0].$unwind'],
  [[{ $unwind: { path: '$a', keep: true } }], 'operand_invalid', 'pipeline[0].$unwind.keep'],
  [[{ $count: '$n' }], 'operand_invalid', 'pipeline[0].$count'],
  [[{ $replaceWith: '$amount' }], 'operand_invalid', 'pipeline[0].$replaceWith'],
  [[{ $facet: {} }], 'operand_invalid', 'pipeline[0].$facet'],
  [[{ $facet: { a: [{ $facet: {} }] } }], 'operator_unknown', 'pipeline[0].$facet.a[0].$facet'],
  [
    [{ $bucket: { groupBy: '$amount', boundaries: [1, 1] } }],
    'operand_invalid',
    'pipeline[0].$bucket.boundaries[1]',
  ],
  [
    [{ $bucket: { groupBy: '$amount', boundaries: [0, 5] } }],
    'operand_invalid',
    'pipeline[0].$bucket',
  ],
  [
    [{ $bucketAuto: { groupBy: '$amount', buckets: 0 } }],
    'operand_invalid',
    'pipeline[0].$bucketAuto.buckets',
  ],
  [
    [{ $bucketAuto: { groupBy: '$amount', buckets: 2, granularity: 'R7' } }],
    'operand_invalid',
    'pipeline[0].$bucketAuto.granularity',
  ],
  [windows({ $derivative: { input: '$amount' } }), 'operand_invalid', outputAt('.window')],
  [
    windows({ $derivative: { input: '$amount', unit: 'month' }, window: { documents: [-1, 0] } }),
    'operand_invalid',
    outputAt('.$derivative.unit'),
  ],
  [windows({ $integral: { input: '$city' } }), 'operand_invalid', outputAt('.$integral.input')],
  [
    windows({ $integral: { input: '$amount', unit: 'hour' } }),
    'operand_invalid',
    outputAt('.$integral'),
  ],
  [windows({ $covariancePop: ['$amount'] }), 'operand_invalid', outputAt('.$covariancePop')],
  [windows({ $linearFill: '$amount' }, { paid: 1 }), 'operand_invalid', outputAt('.$linearFill')],
  [
    windows({ $sum: '$amount', window: { documents: [0.5, 1] } }),
    'operand_invalid',
    outputAt('.window.documents'),
  ],
  [
    windows({ $sum: '$amount', window: { range: ['current', 'unbounded', 1] } }),
    'operand_invalid',
    outputAt('.window.range'),
  ],
  [Array.from({ length: 1001 }, () => ({ $limit: 1 })), 'pipeline_invalid', 'pipeline[1000]'],
];

function windows(output: object, sortBy: object = { amount: 1 }): object[] {
  return [{ $setWindowFields: { sortBy, output: { o: output } } }];
}

function outputAt(path: string): string {
  return `pipeline[0].$setWindowFields.output.o${path}`;
}

/** aggregate() and distinct(). */
export function aggregateSuite(fixture: ClientFixture): void {
  describe('aggregate', () => {
    const orders = async (options = {}) => {
      const made = fixture.documents<Order>(options);
      await made.insertMany(ORDERS);
      return made;
    };

    test('groups come in the order of their first document', async () => {
      const things = await orders();
      expect(await things.aggregate(TOTALS)).toEqual(EXPECTED);
      // Decoded and in columns by now, where the collection is cached.
      await things.filter({ amount: { $gt: 1 } });
      for (let time = 0; time < 3; time++) expect(await things.aggregate(TOTALS)).toEqual(EXPECTED);
    });

    test('an empty pipeline gives the documents, as filter does', async () => {
      const things = await orders();
      expect(await things.aggregate([])).toEqual(await things.filter({}));
      expect(own(await things.aggregate([{ $skip: 1 }, { $limit: 1 }]))).toEqual([
        { city: 'Rome', amount: 7.5, paid: true },
      ]);
    });

    test('the first stages use indexes, and the result is the same', async () => {
      const pipeline = [
        { $match: { city: { $in: ['Oslo', 'Rome'] } } },
        { $sort: { amount: -1 } },
        { $match: { amount: { $gt: 1 } } },
        { $skip: 1 },
        { $limit: 5 },
        { $project: { _id: 1 } },
      ];
      for (const indexes of [[], ['city'], ['amount']])
        expect(
          await (await orders({ name: `by ${indexes}`, indexes })).aggregate(pipeline),
        ).toEqual([{ _id: 'a' }]);
    });

    test('archived documents count as for filter', async () => {
      const things = await orders();
      await things.archive('b');
      const counted = [{ $count: 'n' }];
      expect(await things.aggregate(counted)).toEqual([{ n: 4 }]);
      expect(await things.aggregate(counted, { archived: true })).toEqual([{ n: 5 }]);
      expect(await things.aggregate(TOTALS, { archived: 'only' })).toEqual([EXPECTED[1]]);
      expect(await things.aggregate(TOTALS)).toEqual([EXPECTED[0], EXPECTED[2]]);
      expect(
        await things.aggregate([{ $group: { _id: '$_archived' } }], { archived: true }),
      ).toEqual([{ _id: false }, { _id: true }]);
    });

    test('the collation counts in criteria and orders', async () => {
      const things = await orders();
      const options = { collation: { locale: 'en', strength: 2 } } as const;
      const pipeline = [
        { $match: { city: 'oslo' } },
        { $set: { x: 1 } },
        { $match: { city: 'OSLO' } },
        { $match: { $expr: { $eq: ['$city', 'OSLo'] } } },
        { $match: { $expr: { $in: ['$city', ['osLO']] } } },
      ];
      expect((await things.aggregate(pipeline, options)).length).toBe(2);
      expect((await things.aggregate(pipeline)).length).toBe(0);
    });

    test('the collation counts in groups, joins and distinct values', async () => {
      const options = { collation: { locale: 'en', strength: 2 } } as const;
      const indexes = ['city', { fields: 'city', ...options }];
      const people = fixture.documents<{ city: string }>({ name: 'people', indexes });
      const towns = fixture.documents<{ name: string }>({ name: 'towns', indexes: ['name'] });
      const cities = ['Oslo', 'OSLO', 'Rome', 'oslo'];
      await people.insertMany(cities.map((city, at) => ({ _id: `${at}`, city })));
      await towns.insertMany([{ name: 'oslo' }, { name: 'rome' }]);
      const byCity = [{ $group: { _id: '$city', n: { $sum: 1 } } }];
      expect(await people.aggregate(byCity, options)).toEqual([
        { _id: 'Oslo', n: 3 },
        { _id: 'Rome', n: 1 },
      ]);
      expect((await people.aggregate(byCity)).length).toBe(4);
      const lookup = { localField: 'city', foreignField: 'name', as: 'towns' };
      const joined = await people.aggregate<{ towns: { name: string }[] }>(
        [{ $lookup: { from: towns.name, ...lookup } }, { $sort: { _id: 1 } }],
        options,
      );
      expect(joined.map(({ towns: [town] }) => town?.name)).toEqual([
        ...['oslo', 'oslo', 'rome', 'oslo'],
      ]);
      const live = new LiveLog(people.liveAggregate(byCity, options));
      await live.until(() => true);
      await people.delete('0');
      // The group goes on under its next spelling.
      const after = [
        { _id: 'OSLO', n: 2 },
        { _id: 'Rome', n: 1 },
      ];
      expect(await live.until((groups) => groups[0]?._id === 'OSLO')).toEqual(after);
      expect(await people.aggregate(byCity, options)).toEqual(after);
      expect(await people.distinct('city', {}, options)).toEqual(['OSLO', 'Rome']);
      live.stop();
    });

    test('results belong to the caller', async () => {
      const things = await orders();
      const [first] = await things.aggregate<Order>([{ $match: { _id: 'a' } }]);
      first?.tags?.push('mine');
      const [grouped] = await things.aggregate<{ all: Order[] }>([
        { $group: { _id: null, all: { $push: '$$ROOT' } } },
      ]);
      (grouped as { all: Order[] }).all.length = 0;
      expect((await things.get('a'))?.tags).toEqual(['new', 'big']);
      expect(await things.count()).toBe(5);
    });

    test('a large result comes in chunks', async () => {
      const things = fixture.documents<{ n: number }>();
      await things.insertMany(Array.from({ length: 10_000 }, (_, n) => ({ n })));
      const made = await things.aggregate<{ n: number }>([{ $project: { _id: 0, n: 1 } }]);
      expect(made.map(({ n }) => n)).toEqual(Array.from({ length: 10_000 }, (_, n) => n));
      expect(
        await things.aggregate([
          { $sort: { n: -1 } },
          { $limit: 1 },
          { $project: { n: 1, _id: 0 } },
        ]),
      ).toEqual([{ n: 9999 }]);
    });

    test('values that JSON does not keep pass through', async () => {
      const things = fixture.documents();
      const at = new Date(5);
      await things.insertMany([
        { at, big: 2n ** 70n, not: Number.NaN },
        { at: new Date(5), big: 1n },
      ]);
      expect(
        await things.aggregate([
          { $group: { _id: '$at', big: { $sum: '$big' }, last: { $min: '$not' } } },
        ]),
      ).toEqual([{ _id: at, big: 2n ** 70n + 1n, last: Number.NaN }]);
    });

    test('transactions and views of backups have it', async () => {
      const things = await orders();
      const backup = await things.createBackup();
      await fixture.db.transaction(async (tx) => {
        await tx(things).insert({ city: 'Oslo', amount: 1 });
        await tx(things).delete('b');
        expect(await tx(things).aggregate(TOTALS)).toEqual([
          { _id: 'Oslo', total: 6.1, orders: 3 },
          EXPECTED[2],
        ]);
        expect(await tx(things).distinct('city')).toEqual(['Oslo', null]);
      });
      const then = things.at(backup);
      expect(await then.aggregate(TOTALS)).toEqual(EXPECTED);
      expect(await then.distinct('tags')).toEqual(['new', 'big']);
      await then.close();
    });

    test('a transaction that has read a sum conflicts with a change of it', async () => {
      const things = await orders();
      let runs = 0;
      await fixture.db.transaction(async (tx) => {
        const [row] = await tx(things).aggregate<{ total: number }>([
          { $group: { _id: null, total: { $sum: '$amount' } } },
        ]);
        if (runs++ === 0) await things.patch('a', { amount: 6 });
        await tx(things).insert({ amount: row?.total ?? 0 });
      });
      expect(runs).toBe(2);
      expect((await things.filter({})).at(-1)?.amount).toBe(16.8);
    });

    const hasSync = fixture.caching && fixture.kind.engine === 'thread';
    if (hasSync)
      test('sync has it', async () => {
        const things = await orders();
        await things.ready;
        await things.aggregate([]);
        expect(things.sync.aggregate(TOTALS)).toEqual(EXPECTED);
        expect(things.sync.distinct('city', { amount: { $gt: 1 } })).toEqual([
          'Oslo',
          'Rome',
          null,
        ]);
      });

    const refused = REFUSED.map(([pipeline, code, place]) => ({ pipeline, code, place }));
    test.each(refused)('refuses at $place', async ({ pipeline, code, place }) => {
      const things = await orders();
      const error = await rejection(things.aggregate(pipeline as []));
      expect({ code: error.code, place: error.place }).toEqual({ code, place });
      expect(error.message).toContain(`Collection "${things.name}"`);
      expect(await things.count()).toBe(5);
    });

    test('names the nearest stage and operator', async () => {
      const things = await orders();
      const hint = async (stage: object) => (await rejection(things.aggregate([stage]))).message;
      expect(await hint({ $grup: {} })).toContain('did you mean $group?');
      expect(await hint({ $group: { _id: { $mutiply: [1] } } })).toContain(
        'did you mean $multiply?',
      );
    });

    test('1,000 stages run', async () => {
      const things = await orders();
      const stages = Array.from({ length: 999 }, (_, n) =>
        n % 2
          ? { $set: { n: { $add: ['$n', 1] } } }
          : { $unwind: { path: '$x', preserveNullAndEmptyArrays: true } },
      );
      const [first] = await things.aggregate([{ $set: { n: 0 } }, ...stages]);
      expect(first?.n).toBe(499);
    });

    test('what would exhaust the memory is refused', async () => {
      const things = fixture.documents<{ n: number; text: string }>();
      const text = 'x'.repeat(20_000);
      await things.insertMany(Array.from({ length: 100 }, (_, n) => ({ n, text })));
      const copies = [{ $set: { c: { $range: [0, 100] } } }, { $unwind: '$c' }];
      for (const stages of [
        [...copies],
        [...copies, { $group: { _id: null, all: { $push: '$text' } } }, { $count: 'n' }],
        [...copies, { $sort: { c: 1 } }, { $count: 'n' }],
        [{ $facet: { a: copies } }, { $count: 'n' }],
        [
          { $set: { text: '', c: { $range: [0, 10_000] } } },
          { $unwind: '$c' },
          { $group: { _id: ['$c', '$n'] } },
        ],
      ]) {
        const error = await rejection(things.aggregate(stages));
        expect(error.code).toBe('aggregate_too_large');
      }
      expect(await things.aggregate([...copies, { $count: 'n' }])).toEqual([{ n: 10_000 }]);
    });

    test('distinct gives values, and of arrays items', async () => {
      const things = fixture.documents();
      await things.insertMany([
        { v: 1, deep: [{ a: 1 }, { a: [2, 3] }, 5] },
        { v: [1, 2, [3]], deep: { a: 1 } },
        { v: null },
        { v: { a: 1 } },
        { v: { a: 1 }, x: 1 },
        { v: 1n },
      ]);
      expect(await things.distinct('v')).toEqual([1, 2, [3], null, { a: 1 }]);
      expect(await things.distinct('deep.a')).toEqual([1, 2, 3]);
      expect(await things.distinct('deep.0.a')).toEqual([1]);
      expect(await things.distinct('v', { x: 1 })).toEqual([{ a: 1 }]);
      expect(await things.distinct('nothing')).toEqual([]);
      expect(await rejection(things.distinct('a..b'))).toMatchObject({ place: 'path' });
      expect(await rejection(things.distinct('v', { $x: 1 }))).toMatchObject({
        code: 'operator_unknown',
      });
    });

    test('$lookup and $unionWith read other collections', async () => {
      const things = await orders();
      const cities = fixture.documents({ name: 'cities' });
      await cities.insertMany([
        { _id: 'o', name: 'Oslo', land: 'NO', people: 7 },
        { _id: 'r', name: 'Rome', land: 'IT', people: 28 },
        { _id: 'n', land: '?' },
      ]);
      const from = cities.name;
      const names = { localField: 'city', foreignField: 'name', as: 'in' };
      const looked = await things.aggregate([
        { $lookup: { from, ...names } },
        { $project: { _id: 1, land: '$in.land' } },
      ]);
      expect(looked).toEqual([
        { _id: 'a', land: ['NO'] },
        { _id: 'b', land: ['IT'] },
        { _id: 'c', land: ['NO'] },
        { _id: 'd', land: ['?'] },
        { _id: 'e', land: ['?'] },
      ]);
      expect(
        await things.aggregate([
          { $match: { _id: { $in: ['a', 'b'] } } },
          {
            $lookup: {
              ...{ from, as: 'larger' },
              let: { amount: '$amount' },
              pipeline: [
                { $match: { $expr: { $gt: ['$people', { $multiply: ['$$amount', 2] }] } } },
                { $project: { _id: 0, name: 1 } },
              ],
            },
          },
          { $project: { larger: 1 } },
        ]),
      ).toEqual([
        { _id: 'a', larger: [{ name: 'Rome' }] },
        { _id: 'b', larger: [{ name: 'Rome' }] },
      ]);
      expect(
        await things.aggregate([
          { $match: { _id: 'a' } },
          { $project: { city: 1 } },
          {
            $unionWith: {
              coll: from,
              pipeline: [{ $match: { people: { $gt: 9 } } }, { $project: { name: 1 } }],
            },
          },
          { $unionWith: from },
          { $count: 'n' },
        ]),
      ).toEqual([{ n: 5 }]);
      for (const stage of [{ $lookup: { from: 'none', ...names } }, { $unionWith: 'none' }])
        expect(await rejection(things.aggregate([stage]))).toMatchObject({
          code: 'operand_invalid',
          message: expect.stringContaining('construct that collection'),
        });
      const values = fixture.keyValues();
      const refused = things.aggregate([{ $unionWith: values.name }]);
      expect(await rejection(refused)).toMatchObject({
        code: 'operand_invalid',
        place: 'pipeline[0].$unionWith',
      });
    });

    test('pipelines of two collections that look into each other both answer', async () => {
      const one = fixture.documents({ name: 'one' });
      const other = fixture.documents({ name: 'other' });
      const looking = (from: string) => [
        { $lookup: { from, localField: '_id', foreignField: '_id', as: 'found' } },
      ];
      one.insert({ _id: 'a' });
      other.insert({ _id: 'a' });
      const both = [one.aggregate(looking(other.name)), other.aggregate(looking(one.name))];
      for (const made of await Promise.all(both))
        expect(made).toMatchObject([{ _id: 'a', found: [{ _id: 'a' }] }]);
    });

    test('a transaction looks up what it has staged, and conflicts with changes of that', async () => {
      const things = await orders();
      const cities = fixture.documents({ name: 'cities', indexes: ['name'] });
      await cities.insert({ _id: 'o', name: 'Oslo', land: 'NO' });
      const pipeline = [
        { $match: { city: { $in: ['Oslo', 'Rome'] } } },
        { $lookup: { from: cities.name, localField: 'city', foreignField: 'name', as: 'in' } },
        { $unwind: '$in' },
        { $group: { _id: '$in.land', total: { $sum: '$amount' } } },
        { $unionWith: { coll: cities.name, pipeline: [{ $count: 'total' }] } },
      ];
      let runs = 0;
      await fixture.db.transaction(async (tx) => {
        await tx(cities).insert({ _id: 'r', name: 'Rome', land: 'IT' });
        const made = await tx(things).aggregate(pipeline);
        const land = runs++ === 0 ? 'NO' : 'SE';
        expect(made).toEqual([{ _id: land, total: 5.1 }, { _id: 'IT', total: 7.5 }, { total: 2 }]);
        if (runs === 1) await cities.patch('o', { land: 'SE' });
        await tx(things).insert({ amount: 0 });
      });
      expect(runs).toBe(2);
      const backup = await things.createBackup();
      await things.deleteMany({});
      expect(await things.aggregate(pipeline)).toEqual([{ total: 2 }]);
      const then = things.at(backup);
      expect((await then.aggregate(pipeline)).length).toBe(3);
      await then.close();
    });

    test('a key-value collection refuses it', async () => {
      const values = fixture.keyValues() as unknown as {
        aggregate(stages: object[]): Promise<unknown>;
      };
      const error = await rejection(values.aggregate([]));
      expect(error).toMatchObject({ code: 'type_mismatch' });
      expect(error.message).toContain('DOCUMENT_BASED');
    });
  });
}
