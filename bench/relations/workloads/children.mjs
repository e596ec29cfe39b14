import { openClient, remove } from '../../limits/page/cairn.mjs';
import { loadMingo } from '../../limits/page/mingo.mjs';
import { defineWorkload } from '../../limits/workload.mjs';
import { measureMiddle, middle } from '../../page/measure.mjs';
import { compare, expectEqual, makeJobs, makeVisits, openShop } from '../page/shop.mjs';
import { openSqlite } from '../page/sqlite.mjs';
import { openTanStack } from '../page/tanstack.mjs';
import { openTinyBase } from '../page/tinybase.mjs';

const TURNS = 60;
/** Visits of a job. */
const EACH = 20;
const FOUND = 10;

/** @param {number} size */
const make = (size) => ({
  jobs: makeJobs(size / EACH, { ofTeam: FOUND, customers: 1 }),
  visits: makeVisits(size, size / EACH),
});

/** @param {readonly { visits: readonly unknown[] }[]} found */
function check(found) {
  expectEqual(found.length, FOUND, 'jobs');
  for (const { visits } of found) expectEqual(visits.length, EACH, 'visits of a job');
}

/**
 * The median milliseconds of a query.
 *
 * @param {number} size
 * @param {(team: number) => any} find
 * @param {number} [turns]
 */
async function measureFind(size, find, turns = TURNS) {
  const teams = size / EACH / FOUND;
  const [ms = 0] = await compare(turns, [async (turn) => check(await find(turn % teams))]);
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
    const { jobs } = await openShop(database, make(size));
    const include = /** @type {const} */ ({ visits: true });
    const figures = await measureFind(size, (team) => jobs.filter({ team }, { include }));
    /** @type {number[]} */
    const engine = [];
    await measureMiddle(TURNS, async (team) => {
      engine.push((await jobs.explain({ team }, { include })).engine_ms);
    });
    await remove(database);
    return { ...figures, 'ms in the engine': middle(engine) };
  };

export default defineWorkload({
  name: 'children',
  title: '10 jobs with their 20 visits each, by indexes',
  sizes: [200_000],
  smokeSizes: [2_000],
  contenders: {
    worker: cairn('worker'),
    thread: cairn('thread'),
    async 'TanStack DB'({ database, size }) {
      const { eq, queryOnce, toArray } = await import('@tanstack/db');
      const documents = make(size);
      const visits = await openTanStack(`${database} visits`, documents.visits, ['job_id']);
      const jobs = await openTanStack(`${database} jobs`, documents.jobs, ['team']);
      return measureFind(size, (team) =>
        queryOnce((/** @type {any} */ q) =>
          q
            .from({ job: jobs })
            .where((/** @type {any} */ { job }) => eq(job.team, team))
            .select((/** @type {any} */ { job }) => ({
              ...job,
              visits: toArray(
                q
                  .from({ visit: visits })
                  .where((/** @type {any} */ { visit }) => eq(visit.job_id, job._id)),
              ),
            })),
        ),
      );
    },
    async TinyBase({ size }) {
      const { library, store } = await openTinyBase(make(size));
      const indexes = library.createIndexes(store);
      indexes.setIndexDefinition('team', 'jobs', 'team');
      const relationships = library.createRelationships(store);
      relationships.setRelationshipDefinition('visits', 'visits', 'jobs', 'job_id');
      return measureFind(size, (team) =>
        indexes.getSliceRowIds('team', String(team)).map((id) => ({
          ...store.getRow('jobs', id),
          visits: relationships
            .getLocalRowIds('visits', id)
            .map((visit) => store.getRow('visits', visit)),
        })),
      );
    },
    async SQLite({ size }) {
      const { select, close } = await openSqlite(
        `CREATE TABLE jobs (id TEXT PRIMARY KEY, team, customer_id, scheduled_at, title) WITHOUT ROWID;
         CREATE TABLE visits (id TEXT PRIMARY KEY, job_id, at, done, note) WITHOUT ROWID;
         CREATE INDEX by_team ON jobs (team);
         CREATE INDEX by_job ON visits (job_id);`,
        make(size),
      );
      const sql = `SELECT j.*, v.* FROM jobs j LEFT JOIN visits v ON v.job_id = j.id
        WHERE j.team = ? ORDER BY j.id`;
      const figures = await measureFind(size, async (team) => {
        const jobs = new Map();
        for (const row of await select(sql, [team])) {
          const [_id, , customer_id, scheduled_at, title, id, job_id, at, done, note] = row;
          let job = jobs.get(_id);
          if (!job) {
            job = { _id, team, customer_id, scheduled_at, title, visits: [] };
            jobs.set(_id, job);
          }
          if (id !== null) job.visits.push({ _id: id, job_id, at, done: done === 1, note });
        }
        return [...jobs.values()];
      });
      close();
      return figures;
    },
    async mingo({ size }) {
      const { Aggregator } = await loadMingo();
      const { jobs, visits } = make(size);
      const lookup = { from: visits, localField: '_id', foreignField: 'job_id', as: 'visits' };
      const find = (/** @type {number} */ team) =>
        new Aggregator([{ $match: { team } }, { $lookup: lookup }]).run(jobs);
      return measureFind(size, find, 5);
    },
  },
  limits: [
    { figure: 'worker: ms in the engine', atMost: 4 },
    { figure: 'thread: ms in the engine', atMost: 4 },
    ...['TanStack DB', 'TinyBase', 'SQLite', 'mingo'].map((other) => ({
      figure: `${other}: ms`,
      per: 'worker: ms',
    })),
  ],
});
