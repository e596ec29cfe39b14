import { describe, expectTypeOf, test } from 'vitest';
import { Database, type PipelineStage } from '../../src/index.ts';

interface Order {
  city?: string;
  amount: number;
  at: Date;
  tags: string[];
  lines: { sku: string; count: number }[];
  customer: { name: string; vip: boolean };
}

const db = new Database({ name: 'types' });
const orders = new db.Collection<Order>({ name: 'orders', type: 'DOCUMENT_BASED' });
const anything = new db.Collection({ name: 'any', type: 'DOCUMENT_BASED' });

describe('aggregate', () => {
  test('tells the fields of groups', async () => {
    const [row] = await orders.aggregate([
      { $match: { amount: { $gt: 1 } } },
      {
        $group: {
          _id: '$city',
          total: { $sum: '$amount' },
          mean: { $avg: '$amount' },
          first: { $first: '$at' },
          tags: { $addToSet: '$customer.name' },
          skus: { $push: '$lines.sku' },
          top: { $top: { sortBy: { amount: -1 }, output: '$at' } },
        },
      },
      { $sort: { total: -1 } },
      { $limit: 1 },
    ]);
    if (!row) return;
    expectTypeOf(row._id).toEqualTypeOf<string | null>();
    expectTypeOf(row.total).toEqualTypeOf<number>();
    expectTypeOf(row.mean).toEqualTypeOf<number | null>();
    expectTypeOf(row.first).toEqualTypeOf<Date | null>();
    expectTypeOf(row.tags).toEqualTypeOf<string[]>();
    expectTypeOf(row.skus).toEqualTypeOf<string[][]>();
    expectTypeOf(row.top).toEqualTypeOf<unknown>();
    // @ts-expect-error no such field
    row.amount;
  });

  test('follows stages that keep, add and leave out fields', async () => {
    const [row] = await orders.aggregate([
      { $set: { month: { $month: '$at' }, name: '$customer.name', one: 1 } },
      { $unset: 'at' },
      { $unwind: '$lines' },
      { $project: { _id: 0, name: 1, one: 1, lines: 1, month: 1, sku: '$lines.sku' } },
    ]);
    if (!row) return;
    expectTypeOf(row.name).toEqualTypeOf<string>();
    expectTypeOf(row.one).toEqualTypeOf<number>();
    expectTypeOf(row.month).toEqualTypeOf<number>();
    expectTypeOf(row.lines).toEqualTypeOf<{ sku: string; count: number }>();
    expectTypeOf(row.sku).toEqualTypeOf<string>();
    // @ts-expect-error left out
    row._id;
    const [left] = await orders.aggregate([{ $project: { tags: 0, lines: 0 } }]);
    expectTypeOf(left?.amount).toEqualTypeOf<number | undefined>();
    // @ts-expect-error left out
    left?.tags;
  });

  test('knows what operators compute', async () => {
    const month = { $dateToString: { date: '$at', format: '%Y-%m', timezone: 'UTC' } } as const;
    const [row] = await orders.aggregate([
      {
        $group: {
          _id: month,
          most: { $max: { $multiply: ['$amount', 2] } },
          cities: { $addToSet: { $toUpper: '$city' } },
        },
      },
    ]);
    if (!row) return;
    expectTypeOf(row._id).toEqualTypeOf<string>();
    expectTypeOf(row.most).toEqualTypeOf<number | null>();
    expectTypeOf(row.cities).toEqualTypeOf<(string | null)[]>();
    const [one] = await orders.aggregate([
      {
        $project: {
          year: { $year: { date: '$at', timezone: 'UTC' } },
          day: { $dateTrunc: { date: '$at', unit: 'day' } },
          later: { $add: ['$at', 1000] },
          isMany: { $gt: ['$amount', 2] },
          city: { $ifNull: ['$city', 'nowhere'] },
          kind: { $cond: [{ $lt: ['$amount', 5] }, 'small', null] },
          vip: { $cond: ['$customer.vip', 1, 0] },
          sum: { $add: [{ $size: '$tags' }, { $divide: ['$amount', 3] }] },
          when: { $dateToString: { date: '$at', onNull: 0 } },
          named: { $concat: ['$city', '!'] },
          made: { $map: { input: '$tags', in: '$$this' } },
          nothing: {},
        },
      },
    ]);
    if (!one) return;
    expectTypeOf(one.year).toEqualTypeOf<number>();
    expectTypeOf(one.day).toEqualTypeOf<Date>();
    expectTypeOf(one.later).toEqualTypeOf<unknown>();
    expectTypeOf(one.isMany).toEqualTypeOf<boolean>();
    expectTypeOf(one.city).toEqualTypeOf<string>();
    expectTypeOf(one.kind).toEqualTypeOf<string | null>();
    expectTypeOf(one.vip).toEqualTypeOf<number>();
    expectTypeOf(one.sum).toEqualTypeOf<number>();
    expectTypeOf(one.when).toEqualTypeOf<unknown>();
    expectTypeOf(one.named).toEqualTypeOf<string | null>();
    expectTypeOf(one.made).toEqualTypeOf<unknown>();
    const [any] = await anything.aggregate([
      { $project: { sum: { $add: ['$x', 1] }, text: { $toLower: '$x' } } },
    ]);
    expectTypeOf(any?.sum).toEqualTypeOf<unknown>();
    expectTypeOf(any?.text).toEqualTypeOf<string | null | undefined>();
  });

  test('knows counts, facets, buckets and new roots', async () => {
    expectTypeOf(await orders.aggregate([{ $count: 'n' }])).toEqualTypeOf<{ n: number }[]>();
    const [facets] = await orders.aggregate([
      {
        $facet: { all: [{ $count: 'n' }], tags: [{ $unwind: '$tags' }, { $sortByCount: '$tags' }] },
      },
    ]);
    expectTypeOf(facets?.all).toEqualTypeOf<{ n: number }[] | undefined>();
    expectTypeOf(facets?.tags).toEqualTypeOf<{ _id: string; count: number }[] | undefined>();
    const [bucket] = await orders.aggregate([
      { $bucket: { groupBy: '$amount', boundaries: [0, 1], output: { total: { $sum: 1 } } } },
    ]);
    expectTypeOf(bucket?.total).toEqualTypeOf<number | undefined>();
    const [root] = await orders.aggregate([{ $replaceRoot: { newRoot: '$customer' } }]);
    expectTypeOf(root?.vip).toEqualTypeOf<boolean | undefined>();
  });

  test('takes the type of the result, and never gives any', async () => {
    const rows = await orders.aggregate<{ _id: string; n: number }>([{ $group: { _id: '$city' } }]);
    expectTypeOf(rows).toEqualTypeOf<{ _id: string; n: number }[]>();
    const stages: PipelineStage[] = [{ $match: {} }];
    expectTypeOf(await orders.aggregate(stages)).toEqualTypeOf<Record<string, unknown>[]>();
    const [any] = await anything.aggregate([{ $group: { _id: '$x', last: { $last: '$y' } } }]);
    expectTypeOf(any?.last).toEqualTypeOf<unknown>();
    expectTypeOf(any?._id).toEqualTypeOf<unknown>();
    const widened = [{ $sort: { amount: 1 } }, { $limit: 1 }];
    await orders.aggregate(widened);
  });

  test('refuses what is no stage', () => {
    // @ts-expect-error no such stage
    orders.aggregate([{ $grup: { _id: null } }]);
    // @ts-expect-error a number
    orders.aggregate([{ $limit: '1' }]);
    // @ts-expect-error a list
    orders.aggregate({ $match: {} });
    // @ts-expect-error no such option
    orders.aggregate([], { limit: 1 });
  });

  test('distinct gives the values at a path', async () => {
    expectTypeOf(await orders.distinct('city')).toEqualTypeOf<string[]>();
    expectTypeOf(await orders.distinct('tags')).toEqualTypeOf<string[]>();
    expectTypeOf(await orders.distinct('lines.count', { amount: 1 })).toEqualTypeOf<number[]>();
    // @ts-expect-error no such path
    orders.distinct('town');
    // @ts-expect-error no such path
    orders.distinct('city', { town: 1 });
  });

  test('takes a pipeline that was written down before', () => {
    const pipeline: PipelineStage[] = [
      { $lookup: { from: 'skus', localField: 'lines.sku', foreignField: '_id', as: 'skus' } },
      { $unwind: { path: '$skus', preserveNullAndEmptyArrays: true } },
      { $bucket: { groupBy: '$amount', boundaries: [0, 10], default: 'more' } },
      // @ts-expect-error where to
      { $lookup: { from: 'skus' } },
    ];
    expectTypeOf(orders.aggregate(pipeline)).resolves.toEqualTypeOf<Record<string, unknown>[]>();
  });
});
