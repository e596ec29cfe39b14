import { expect, test } from 'vitest';
import { testDatabase } from '../../../src/testing/index.ts';

const ZERO = [0, -0, 1, 1n, 2.5, Number.NaN, Number.POSITIVE_INFINITY, 1e308, -1e308, 0.1];
const MIXED = ['a', '\0a', null, undefined, true, 5, 5n, -0, 0, [1], { x: 1 }, new Date(5), 'b'];
const FEW = ['north', 'south', null, undefined, new Date(1e12), new Date(1e12), 7, Number.NaN];

/** What columns and their codes must not change: the first run reads documents. */
test('a pipeline gives the same from documents, from columns, and without a cache', async () => {
  const db = await testDatabase();
  const open = (name: string, caching: boolean) =>
    new db.Collection<Record<string, unknown>>({ name, type: 'DOCUMENT_BASED', caching });
  const [cached, plain] = [open('cached', true), open('plain', false)];
  const documents = Array.from({ length: 5000 }, (_, n) => ({
    _id: String(n),
    few: FEW[(n * 7) % FEW.length],
    mixed: MIXED[(n * 5) % MIXED.length],
    day: new Date(Date.UTC(2026, 0, 1 + ((n * 31) % 400))),
    many: `text ${n}`,
    n,
    price: (n % 1000) / 10,
    odd: ZERO[n % ZERO.length],
  }));
  for (const collection of [cached, plain]) await collection.insertMany(documents);
  await db.save();
  const month = { $dateTrunc: { date: '$day', unit: 'month' } };
  const ids = ['$few', '$mixed', '$many', month, { few: '$few', month }, { $type: '$few' }];
  const total = { sum: { $sum: '$price' }, odd: { $sum: '$odd' }, mean: { $avg: '$odd' } };
  for (const _id of ids)
    for (const before of [[], [{ $match: { n: { $gte: 100 }, price: { $lt: 90 } } }]]) {
      const pipeline = [...before, { $group: { _id, ...total, count: { $sum: 1 } } }];
      const expected = await plain.aggregate(pipeline);
      for (let run = 0; run < 3; run++) expect(await cached.aggregate(pipeline)).toEqual(expected);
    }
});
