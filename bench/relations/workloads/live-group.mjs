import { openClient, remove } from '../../limits/page/cairn.mjs';
import { defineWorkload } from '../../limits/workload.mjs';
import { expectEqual, makeSales, openSales, REGIONS, timeChanges } from '../page/shop.mjs';
import { openTanStack, subscribeTanStack } from '../page/tanstack.mjs';
import { openTinyBase, subscribeTinyBase } from '../page/tinybase.mjs';

const CHANGES = 150;

/** Another for each change, so that each changes something. */
let next = 1e3;

/** Ids of sales of one region, whose plain live query has as many. @param {number} size */
function prepare(size) {
  const sales = makeSales(size);
  const ids = sales.filter(({ region }) => region === 'region 7').map(({ _id }) => _id);
  const id = (/** @type {number} */ n) => /** @type {string} */ (ids[(n * 7) % ids.length]);
  return { sales, id };
}

/**
 * @param {import('../../limits/page/cairn.mjs').ClientName} client
 * @returns {import('../../limits/workload.mjs').Contender}
 */
const cairn =
  (client) =>
  async ({ database: name, size }) => {
    const database = await openClient(client, name);
    const { sales: documents, id } = prepare(size);
    const sales = await openSales(database, documents);
    const change = (/** @type {number} */ n) => sales.patch(id(n), { price: next++ });
    const plain = async (/** @type {() => void} */ listener) => {
      const live = sales.live({ region: 'region 7' });
      const end = live.subscribe(() => listener());
      await live.ready;
      return end;
    };
    const groups = async (/** @type {() => void} */ listener) => {
      const live = sales.liveAggregate([
        { $group: { _id: '$region', total: { $sum: '$price' }, count: { $sum: 1 } } },
        { $sort: { total: -1 } },
      ]);
      const end = live.subscribe(() => listener());
      const { data } = await live.ready;
      expectEqual(data.length, REGIONS, 'groups');
      return end;
    };
    const before = await timeChanges(CHANGES, plain, change);
    const ms = await timeChanges(CHANGES, groups, change);
    const after = await timeChanges(CHANGES, plain, change);
    await remove(database);
    return { ms, 'ms of a live query': (before + after) / 2 };
  };

export default defineWorkload({
  name: 'live-group',
  title: 'a change in a live sum and count of 50 regions, until it is shown',
  sizes: [100_000],
  smokeSizes: [2_000],
  contenders: {
    worker: cairn('worker'),
    thread: cairn('thread'),
    async 'TanStack DB'({ database, size }) {
      const { count, eq, sum } = await import('@tanstack/db');
      const { sales: documents, id } = prepare(size);
      const sales = await openTanStack(database, documents, ['region']);
      const change = (/** @type {number} */ n) =>
        sales.update(id(n), (/** @type {any} */ draft) => {
          draft.price = next++;
        });
      const plain = (/** @type {() => void} */ listener) =>
        subscribeTanStack(
          (q) =>
            q
              .from({ sale: sales })
              .where((/** @type {any} */ { sale }) => eq(sale.region, 'region 7')),
          listener,
        );
      const groups = (/** @type {() => void} */ listener) =>
        subscribeTanStack(
          (q) =>
            q
              .from({ sale: sales })
              .groupBy((/** @type {any} */ { sale }) => sale.region)
              .select((/** @type {any} */ { sale }) => ({
                region: sale.region,
                total: sum(sale.price),
                count: count(sale._id),
              })),
          listener,
        );
      return {
        ms: await timeChanges(CHANGES, groups, change),
        'ms of a live query': await timeChanges(CHANGES, plain, change),
      };
    },
    async TinyBase({ size }) {
      const { sales, id } = prepare(size);
      const { library, store } = await openTinyBase({ sales });
      const change = (/** @type {number} */ n) => {
        store.setCell('sales', id(n), 'price', next++);
      };
      const groups = (/** @type {() => void} */ listener) => {
        const queries = library.createQueries(store);
        queries.setQueryDefinition('live', 'sales', ({ select, group }) => {
          select('region');
          select('price');
          select('quantity');
          group('price', 'sum').as('total');
          group('quantity', 'count').as('count');
        });
        return subscribeTinyBase(queries, listener);
      };
      const plain = (/** @type {() => void} */ listener) => {
        const queries = library.createQueries(store);
        queries.setQueryDefinition('live', 'sales', ({ select, where }) => {
          for (const cell of ['region', 'price', 'quantity', 'day']) select(cell);
          where('region', 'region 7');
        });
        return subscribeTinyBase(queries, listener);
      };
      return {
        ms: await timeChanges(CHANGES, groups, change),
        'ms of a live query': await timeChanges(CHANGES, plain, change),
      };
    },
  },
  limits: [
    ...['worker', 'thread'].map((client) => ({
      figure: `${client}: ms`,
      per: `${client}: ms of a live query`,
      atMost: 1.5,
    })),
    ...['TanStack DB', 'TinyBase'].map((other) => ({ figure: `${other}: ms`, per: 'thread: ms' })),
  ],
});
