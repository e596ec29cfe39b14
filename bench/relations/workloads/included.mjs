import { openClient, remove } from '../../limits/page/cairn.mjs';
import { loadMingo } from '../../limits/page/mingo.mjs';
import { defineWorkload } from '../../limits/workload.mjs';
import { compare, expectEqual, makeCustomers, makeJobs, openShop } from '../page/shop.mjs';
import { openSqlite } from '../page/sqlite.mjs';
import { openTanStack } from '../page/tanstack.mjs';
import { openTinyBase } from '../page/tinybase.mjs';

const TURNS = 100;
const FOUND = 50;

/** @param {number} size */
const make = (size) => ({
  customers: makeCustomers(size),
  jobs: makeJobs(size, { ofTeam: FOUND, customers: size }),
});

/** @param {readonly { customer?: { name?: unknown } | null }[]} found */
function check(found) {
  expectEqual(found.length, FOUND, 'jobs');
  for (const { customer } of found) expectEqual(typeof customer?.name, 'string', 'a name');
}

/** The median milliseconds of a query. @param {number} size @param {(team: number) => any} find */
async function measureFind(size, find) {
  const teams = size / FOUND;
  const [ms = 0] = await compare(TURNS, [async (turn) => check(await find(turn % teams))]);
  return { ms };
}

/**
 * @param {import('../../limits/page/cairn.mjs').ClientName} client
 * @returns {import('../../limits/workload.mjs').Contender}
 */
const cairn =
  (client) =>
  async ({ database: name, size }) => {
    const database = await openClient(client, name);
    const { customers, jobs } = await openShop(database, make(size));
    const teams = size / FOUND;
    const sort = /** @type {const} */ ({ scheduled_at: 1 });
    const [ms = 0, byHand = 0, plain = 0] = await compare(TURNS, [
      async (turn) =>
        check(await jobs.filter({ team: turn % teams }, { sort, include: { customer: true } })),
      async (turn) => {
        const found = await jobs.filter({ team: turn % teams }, { sort });
        const partners = await customers.getMany(found.map(({ customer_id }) => customer_id));
        check(found.map((job, n) => ({ ...job, customer: partners[n] ?? null })));
      },
      async (turn) => {
        await jobs.filter({ team: turn % teams }, { sort });
      },
    ]);
    await remove(database);
    return { ms, 'ms filter and getMany': byHand, 'ms filter alone': plain };
  };

export default defineWorkload({
  name: 'included',
  title: '50 jobs of a team, by an index, sorted, with their customers',
  sizes: [20_000],
  smokeSizes: [1_000],
  contenders: {
    worker: cairn('worker'),
    thread: cairn('thread'),
    async 'TanStack DB'({ database, size }) {
      const { eq, queryOnce } = await import('@tanstack/db');
      const documents = make(size);
      const customers = await openTanStack(`${database} customers`, documents.customers, ['_id']);
      const jobs = await openTanStack(`${database} jobs`, documents.jobs, ['team']);
      return measureFind(size, (team) =>
        queryOnce((/** @type {any} */ q) =>
          q
            .from({ job: jobs })
            .where((/** @type {any} */ { job }) => eq(job.team, team))
            .leftJoin({ customer: customers }, (/** @type {any} */ { job, customer }) =>
              eq(job.customer_id, customer._id),
            )
            .orderBy((/** @type {any} */ { job }) => job.scheduled_at),
        ),
      );
    },
    async TinyBase({ size }) {
      const { library, store } = await openTinyBase(make(size));
      const indexes = library.createIndexes(store);
      indexes.setIndexDefinition('team', 'jobs', 'team', 'scheduled_at');
      const relationships = library.createRelationships(store);
      relationships.setRelationshipDefinition('customer', 'jobs', 'customers', 'customer_id');
      return measureFind(size, (team) =>
        indexes.getSliceRowIds('team', String(team)).map((id) => {
          const customer = relationships.getRemoteRowId('customer', id) ?? '';
          return { ...store.getRow('jobs', id), customer: store.getRow('customers', customer) };
        }),
      );
    },
    async SQLite({ size }) {
      const { select, close } = await openSqlite(
        `CREATE TABLE customers (id TEXT PRIMARY KEY, name, city, phone) WITHOUT ROWID;
         CREATE TABLE jobs (id TEXT PRIMARY KEY, team, customer_id, scheduled_at, title) WITHOUT ROWID;
         CREATE INDEX by_team ON jobs (team);`,
        make(size),
      );
      const sql = `SELECT j.*, c.* FROM jobs j LEFT JOIN customers c ON c.id = j.customer_id
        WHERE j.team = ? ORDER BY j.scheduled_at`;
      const figures = await measureFind(size, async (team) =>
        (await select(sql, [team])).map(
          ([_id, , customer_id, scheduled_at, title, id, name, city, phone]) => {
            const customer = id === null ? null : { _id: id, name, city, phone };
            return { _id, team, customer_id, scheduled_at, title, customer };
          },
        ),
      );
      close();
      return figures;
    },
    async mingo({ size }) {
      const { Aggregator } = await loadMingo();
      const { customers, jobs } = make(size);
      const lookup = { from: customers, localField: 'customer_id', foreignField: '_id' };
      return measureFind(size, (team) =>
        new Aggregator([
          { $match: { team } },
          { $sort: { scheduled_at: 1 } },
          { $lookup: { ...lookup, as: 'customer' } },
          { $unwind: '$customer' },
        ]).run(jobs),
      );
    },
  },
  limits: [
    { figure: 'worker: ms', per: 'worker: ms filter and getMany', atMost: 1.5 },
    { figure: 'thread: ms', per: 'thread: ms filter and getMany' },
    ...['TanStack DB', 'TinyBase', 'SQLite', 'mingo'].map((other) => ({
      figure: `${other}: ms`,
      per: 'worker: ms',
    })),
  ],
});
