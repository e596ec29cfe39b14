import { isDeepStrictEqual } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { Database, type DocumentCollection, type PipelineStage } from '../../src/index.ts';
import { LiveLog } from '../contract/live-log.ts';
import { fc, runs } from '../setup/properties.ts';

type Thing = Record<string, unknown>;
type Things = DocumentCollection<Thing>;

/** Kept up to date by differences, behind the groups too. */
const BY_DIFFERENCES: Record<string, PipelineStage[]> = {
  counts: [{ $group: { _id: '$k', n: { $sum: 1 }, two: { $sum: 2 }, c: { $count: {} } } }],
  all: [{ $group: { _id: null, n: { $count: {} }, total: { $sum: '$v' }, mean: { $avg: '$v' } } }],
  extremes: [
    {
      $group: {
        _id: '$k',
        min: { $min: '$v' },
        max: { $max: '$v' },
        first: { $first: '$v' },
        last: { $last: '$v' },
        set: { $addToSet: '$w' },
      },
    },
  ],
  parts: [{ $group: { _id: { k: '$k', w: '$w' }, total: { $sum: '$v' }, all: { $push: '$v' } } }],
  shaped: [
    { $match: { v: { $gte: 0 } } },
    { $set: { x: { $cond: [{ $isNumber: '$v' }, { $multiply: ['$v', 0.1] }, 0] } } },
    { $match: { w: { $ne: 'c' } } },
    { $project: { k: 1, x: 1 } },
    { $group: { _id: '$k', x: { $sum: '$x' } } },
    { $set: { y: { $add: ['$x', 1] } } },
    { $match: { y: { $lt: 100 } } },
    { $sort: { y: -1 } },
    { $skip: 1 },
    { $limit: 2 },
    { $project: { y: 1 } },
  ],
  ordered: [
    { $group: { _id: '$k', total: { $sum: '$v' }, max: { $max: '$w' } } },
    { $sort: { max: 1, total: -1 } },
    { $match: { total: { $ne: 0 } } },
    { $project: { _id: 0, total: 1 } },
  ],
  cut: [
    { $group: { _id: { k: '$k', w: '$w' }, n: { $sum: 1 } } },
    { $match: { n: { $lt: 3 } } },
    { $sort: { n: -1 } },
    { $project: { n: 0 } },
    { $skip: 1 },
    { $limit: 4 },
    { $skip: 1 },
    { $group: { _id: '$_id.k', n: { $count: {} } } },
  ],
  archived: [{ $group: { _id: '$_archived', n: { $sum: 1 }, id: { $max: '$_id' } } }],
  counted: [{ $sortByCount: '$k' }],
};

/** Run again. */
const AGAIN: Record<string, PipelineStage[]> = {
  unwound: [{ $unwind: '$list' }, { $group: { _id: '$list', n: { $sum: 1 } } }],
  sorted: [{ $sort: { v: 1, _id: 1 } }, { $limit: 3 }],
  deviation: [{ $group: { _id: '$k', d: { $stdDevPop: '$v' } } }],
};

const number = fc.oneof(
  fc.integer({ min: -5, max: 5 }),
  fc.constantFrom(0.1, 0.2, 0.3, -0.3, 1e16, -1e16, 1e-9, Number.NaN, Number.POSITIVE_INFINITY),
  fc.constantFrom(1n, 2n ** 60n),
);
const value = fc.oneof(
  { weight: 5, arbitrary: number },
  fc.constantFrom(null, 'x', true),
  fc.constant(undefined).map(() => new Date(5)),
);
const thing = fc.record(
  {
    k: fc.constantFrom('a', 'b', null, 1, 1n, 0, -0),
    v: value,
    w: fc.constantFrom('a', 'b', 'c'),
    list: fc.array(fc.constantFrom(1, 2), { maxLength: 2 }),
  },
  { requiredKeys: [] },
);
const id = fc.constantFrom(...Array.from({ length: 12 }, (_, n) => `d${n}`));

type Step = (things: Things) => Promise<unknown>;
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(id, thing).map(
      ([_id, one]): Step =>
        (things) =>
          things.upsert({ _id, ...one }),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(id, thing).map(
      ([_id, one]): Step =>
        (things) =>
          things.patch(_id, one as object),
    ),
  },
  {
    weight: 2,
    arbitrary: id.map(
      (_id): Step =>
        (things) =>
          things.delete(_id),
    ),
  },
  {
    weight: 1,
    arbitrary: id.map(
      (_id): Step =>
        (things) =>
          things.archive(_id),
    ),
  },
  {
    weight: 1,
    arbitrary: id.map(
      (_id): Step =>
        (things) =>
          things.unarchive(_id),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.array(fc.tuple(id, thing), { minLength: 1, maxLength: 4 }).map(
      (all): Step =>
        (things) =>
          things.upsertMany(all.map(([_id, one]) => ({ _id, ...one }))),
    ),
  },
  { weight: 1, arbitrary: fc.constant((things: Things) => things.save()) },
);

const db = new Database({ name: 'live aggregates', storage: 'memory' });
let made = 0;
afterAll(() => db.close());

describe('a live aggregate', () => {
  test.each([true, false])(
    'equals a fresh one after each change, caching: %j',
    async (caching) => {
      const steps = fc.array(step, { minLength: 20, maxLength: 120, size: 'max' });
      await fc.assert(
        fc.asyncProperty(steps, async (all) => {
          const things: Things = new db.Collection({
            name: `things ${++made}`,
            type: 'DOCUMENT_BASED',
            caching,
          });
          const options = { archived: made % 2 === 0 };
          const kept = Object.entries(BY_DIFFERENCES).map(([name, pipeline]) => {
            const live = things.liveAggregate(pipeline, options);
            return { name, pipeline, live, log: new LiveLog(live) };
          });
          const again = Object.values(AGAIN).map((pipeline) => {
            const live = things.liveAggregate(pipeline, options);
            return { pipeline, log: new LiveLog(live) };
          });
          for (const { log } of kept) await log.until(() => true);
          for (const change of all) {
            await change(things);
            for (const { name, pipeline, live } of kept) {
              const { data, error } = live.getSnapshot();
              if (error) throw error;
              const fresh = await things.aggregate(pipeline, options);
              if (!isDeepStrictEqual(data, fresh))
                expect({ name, data }).toStrictEqual({ name, data: fresh });
            }
          }
          for (const { pipeline, log } of again) {
            const fresh = await things.aggregate(pipeline, options);
            await log.until((data) => isDeepStrictEqual(data, fresh));
          }
          for (const { log } of [...kept, ...again]) log.stop();
        }),
        runs(40),
      );
    },
    120_000,
  );
});
