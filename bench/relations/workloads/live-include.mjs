import { openClient, remove } from '../../limits/page/cairn.mjs';
import { defineWorkload } from '../../limits/workload.mjs';
import { expectEqual, makeJobs, makeVisits, openShop, timeChanges } from '../page/shop.mjs';
import { openTanStack, subscribeTanStack } from '../page/tanstack.mjs';
import { openTinyBase, subscribeTinyBase } from '../page/tinybase.mjs';

const CHANGES = 150;
/** Visits of a job. */
const EACH = 10;

/** @param {number} size */
const make = (size) => ({
  jobs: makeJobs(size, { ofTeam: size, customers: 1 }),
  visits: makeVisits(size * EACH, size),
});

/** One that is another for each change. @param {string} what @param {number} size */
const idFor = (what, size) => (/** @type {number} */ n) =>
  `${what} ${String((n * 7) % size).padStart(6, '0')}`;

/** Another for each change, so that each changes something. */
let next = 2e9;

/**
 * @param {import('../../limits/page/cairn.mjs').ClientName} client
 * @returns {import('../../limits/workload.mjs').Contender}
 */
const cairn =
  (client) =>
  async ({ database: name, size }) => {
    const database = await openClient(client, name);
    const { jobs, visits } = await openShop(database, make(size));
    const [job, visit] = [idFor('job', size), idFor('visit', size * EACH)];
    /** @param {{ include?: { visits: true } }} options */
    const subscribe = (options) => async (/** @type {() => void} */ listener) => {
      const live = jobs.live({}, options);
      const end = live.subscribe(() => listener());
      const { data } = await live.ready;
      expectEqual(data.length, size, 'jobs');
      return end;
    };
    const plainly = () =>
      timeChanges(CHANGES, subscribe({}), (n) => jobs.patch(job(n), { scheduled_at: next++ }));
    const included = (/** @type {() => void} */ listener) =>
      subscribe({ include: { visits: true } })(listener);
    const before = await plainly();
    const ms = await timeChanges(CHANGES, included, (n) => visits.patch(visit(n), { at: next++ }));
    const parent = await timeChanges(CHANGES, included, (n) =>
      jobs.patch(job(n), { scheduled_at: next++ }),
    );
    const after = await plainly();
    await remove(database);
    const plain = (before + after) / 2;
    return { 'ms of a visit': ms, 'ms of a job': parent, 'ms of a job, nothing included': plain };
  };

export default defineWorkload({
  name: 'live-include',
  title: 'a change in a live query of 1,000 jobs with their 10 visits each, until it is shown',
  sizes: [1_000],
  smokeSizes: [100],
  contenders: {
    worker: cairn('worker'),
    thread: cairn('thread'),
    async 'TanStack DB'({ database, size }) {
      const { eq, toArray } = await import('@tanstack/db');
      const documents = make(size);
      const visits = await openTanStack(`${database} visits`, documents.visits, ['job_id']);
      const jobs = await openTanStack(`${database} jobs`, documents.jobs);
      const [job, visit] = [idFor('job', size), idFor('visit', size * EACH)];
      const changeJob = (/** @type {number} */ n) =>
        jobs.update(job(n), (/** @type {any} */ draft) => {
          draft.scheduled_at = next++;
        });
      const plain = (/** @type {() => void} */ listener) =>
        subscribeTanStack((q) => q.from({ job: jobs }), listener);
      const included = (/** @type {() => void} */ listener) =>
        subscribeTanStack(
          (q) =>
            q.from({ job: jobs }).select((/** @type {any} */ { job: each }) => ({
              ...each,
              visits: toArray(
                q
                  .from({ visit: visits })
                  .where((/** @type {any} */ { visit: one }) => eq(one.job_id, each._id)),
              ),
            })),
          listener,
        );
      const changeVisit = (/** @type {number} */ n) =>
        visits.update(visit(n), (/** @type {any} */ draft) => {
          draft.at = next++;
        });
      return {
        'ms of a visit': await timeChanges(CHANGES, included, changeVisit),
        'ms of a job': await timeChanges(CHANGES, included, changeJob),
        'ms of a job, nothing included': await timeChanges(CHANGES, plain, changeJob),
      };
    },
    // A row for each pair: its queries have no rows in rows.
    async 'TinyBase, a row for each pair'({ size }) {
      const { library, store } = await openTinyBase(make(size));
      const [job, visit] = [idFor('job', size), idFor('visit', size * EACH)];
      const included = (/** @type {() => void} */ listener) => {
        const queries = library.createQueries(store);
        queries.setQueryDefinition('live', 'visits', ({ select, join }) => {
          for (const cell of ['job_id', 'at', 'done', 'note']) select(cell);
          join('jobs', 'job_id').as('job');
          for (const cell of ['team', 'customer_id', 'scheduled_at', 'title']) select('job', cell);
        });
        return subscribeTinyBase(queries, listener);
      };
      const plain = (/** @type {() => void} */ listener) => {
        const queries = library.createQueries(store);
        queries.setQueryDefinition('live', 'jobs', ({ select }) => {
          for (const cell of ['team', 'customer_id', 'scheduled_at', 'title']) select(cell);
        });
        return subscribeTinyBase(queries, listener);
      };
      const changeJob = (/** @type {number} */ n) => {
        store.setCell('jobs', job(n), 'scheduled_at', next++);
      };
      const changeVisit = (/** @type {number} */ n) => {
        store.setCell('visits', visit(n), 'at', next++);
      };
      return {
        'ms of a visit': await timeChanges(CHANGES, included, changeVisit),
        'ms of a job': await timeChanges(CHANGES, included, changeJob),
        'ms of a job, nothing included': await timeChanges(CHANGES, plain, changeJob),
      };
    },
  },
  limits: [
    ...['worker', 'thread'].map((client) => ({
      figure: `${client}: ms of a visit`,
      per: `${client}: ms of a job, nothing included`,
      atMost: 1.5,
    })),
    { figure: 'TanStack DB: ms of a visit', per: 'thread: ms of a visit' },
  ],
});
