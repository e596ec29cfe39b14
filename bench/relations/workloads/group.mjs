import { openClient, remove } from '../../limits/page/cairn.mjs';
import { loadMingo } from '../../limits/page/mingo.mjs';
import { defineWorkload } from '../../limits/workload.mjs';
import { measureMiddle } from '../../page/measure.mjs';
import { expectEqual, makeSales, openSales, REGIONS } from '../page/shop.mjs';
import { openSqlite } from '../page/sqlite.mjs';
import { openTanStack } from '../page/tanstack.mjs';
import { openTinyBase } from '../page/tinybase.mjs';

/** @typedef {import('../page/shop.mjs').Sale} Sale */

const RUNS = 21;
const SLOW_RUNS = 5;

const BY_REGION = [{ $group: { _id: '$region', total: { $sum: '$price' }, count: { $sum: 1 } } }];
const BY_MONTH = [
  { $match: { quantity: { $gte: 3 } } },
  {
    $group: {
      _id: { $dateTrunc: { date: '$day', unit: 'month' } },
      total: { $sum: { $multiply: ['$price', '$quantity'] } },
    },
  },
];

/** @param {number} runs @param {() => any} ask @param {number} groups */
async function measureGroups(runs, ask, groups) {
  const check = async () => {
    const found = await ask();
    expectEqual(found.length, groups, 'groups');
  };
  for (let run = 0; run < runs / 3; run++) await check();
  return measureMiddle(runs, check);
}

/**
 * @param {number} runs
 * @param {() => any} byRegion
 * @param {() => any} byMonth
 */
const measureBoth = async (runs, byRegion, byMonth) => ({
  'ms by region': await measureGroups(runs, byRegion, REGIONS),
  'ms by month': await measureGroups(runs, byMonth, 12),
});

/** @param {readonly Sale[]} sales */
function regionsByHand(sales) {
  /** @type {Map<string, { _id: string, total: number, count: number }>} */
  const groups = new Map();
  for (const { region, price } of sales) {
    const group = groups.get(region);
    if (group) {
      group.total += price;
      group.count++;
    } else groups.set(region, { _id: region, total: price, count: 1 });
  }
  return [...groups.values()];
}

/** @param {readonly Sale[]} sales */
function monthsByHand(sales) {
  /** @type {Map<number, { _id: Date, total: number }>} */
  const groups = new Map();
  for (const { day, price, quantity } of sales) {
    if (quantity < 3) continue;
    const month = Date.UTC(day.getUTCFullYear(), day.getUTCMonth());
    const group = groups.get(month);
    if (group) group.total += price * quantity;
    else groups.set(month, { _id: new Date(month), total: price * quantity });
  }
  return [...groups.values()];
}

/**
 * @param {import('../../limits/page/cairn.mjs').ClientName} client
 * @returns {import('../../limits/workload.mjs').Contender}
 */
const cairn =
  (client) =>
  async ({ database: name, size }) => {
    const database = await openClient(client, name);
    const sales = await openSales(database, makeSales(size));
    const figures = await measureBoth(
      RUNS,
      () => sales.aggregate(BY_REGION),
      () => sales.aggregate(BY_MONTH),
    );
    await remove(database);
    return figures;
  };

export default defineWorkload({
  name: 'group',
  title: 'sum and count of 50 regions; sums of products by month of those that match',
  sizes: [100_000],
  smokeSizes: [2_000],
  contenders: {
    async 'loop by hand'({ size }) {
      const sales = makeSales(size);
      return measureBoth(
        RUNS,
        () => regionsByHand(sales),
        () => monthsByHand(sales),
      );
    },
    worker: cairn('worker'),
    thread: cairn('thread'),
    async 'TanStack DB'({ database, size }) {
      const { count, queryOnce, sum } = await import('@tanstack/db');
      const sales = await openTanStack(database, makeSales(size));
      const byRegion = () =>
        queryOnce((/** @type {any} */ q) =>
          q
            .from({ sale: sales })
            .groupBy((/** @type {any} */ { sale }) => sale.region)
            .select((/** @type {any} */ { sale }) => ({
              _id: sale.region,
              total: sum(sale.price),
              count: count(sale._id),
            })),
        );
      return { 'ms by region': await measureGroups(SLOW_RUNS, byRegion, REGIONS) };
    },
    async TinyBase({ size }) {
      const { library, store } = await openTinyBase({ sales: makeSales(size) });
      const byRegion = () => {
        const queries = library.createQueries(store);
        queries.setQueryDefinition('groups', 'sales', ({ select, group }) => {
          select('region');
          select('price');
          select('quantity');
          group('price', 'sum').as('total');
          group('quantity', 'count').as('count');
        });
        const groups = Object.values(queries.getResultTable('groups'));
        queries.destroy();
        return groups;
      };
      return { 'ms by region': await measureGroups(SLOW_RUNS, byRegion, REGIONS) };
    },
    async SQLite({ size }) {
      const { select, close } = await openSqlite(
        'CREATE TABLE sales (id TEXT PRIMARY KEY, region, price, quantity, day) WITHOUT ROWID',
        { sales: makeSales(size) },
      );
      const figures = await measureBoth(
        RUNS,
        () => select('SELECT region, sum(price), count(*) FROM sales GROUP BY region'),
        () =>
          select(`SELECT strftime('%Y-%m-01', day / 1000, 'unixepoch') AS month,
            sum(price * quantity) FROM sales WHERE quantity >= 3 GROUP BY month`),
      );
      close();
      return figures;
    },
    async mingo({ size }) {
      const { Aggregator } = await loadMingo();
      const sales = makeSales(size);
      return measureBoth(
        SLOW_RUNS,
        () => new Aggregator(BY_REGION).run(sales),
        () => new Aggregator(BY_MONTH).run(sales),
      );
    },
  },
  limits: [
    ...['worker', 'thread'].flatMap((client) =>
      ['ms by region', 'ms by month'].map((metric) => ({
        figure: `${client}: ${metric}`,
        per: `loop by hand: ${metric}`,
        atMost: 1.5,
      })),
    ),
    ...['TanStack DB', 'TinyBase', 'SQLite', 'mingo'].map((other) => ({
      figure: `${other}: ms by region`,
      per: 'worker: ms by region',
    })),
  ],
});
