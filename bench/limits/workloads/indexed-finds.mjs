import { GROUP_SIZE, groupCount } from '../../page/documents.mjs';
import { measureMiddle } from '../../page/measure.mjs';
import { openFilled, remove } from '../page/cairn.mjs';
import { defineWorkload } from '../workload.mjs';

const RUNS = 100;
const WARM_UP = 100;
const MANY = 5;

/**
 * @param {number} runs
 * @param {(run: number) => number | Promise<number>} count gives how many were found
 * @param {number} expected
 */
async function measureFinding(runs, count, expected) {
  for (let run = 0; run < WARM_UP; run++) {
    const found = await count(run);
    if (found !== expected) throw new Error(`${found} documents were found, not ${expected}.`);
  }
  return measureMiddle(runs, (run) => count(run + WARM_UP));
}

/**
 * @param {import('../page/cairn.mjs').People} people
 * @param {number} size
 */
async function filterGroups(people, size) {
  const groups = groupCount(size);
  const filter = async (/** @type {object} */ criteria) => (await people.filter(criteria)).length;
  const several = (/** @type {number} */ run) =>
    Array.from({ length: MANY }, (_, index) => (run * MANY + index) % groups);
  return {
    'ms to filter 200': await measureFinding(
      RUNS,
      (run) => filter({ group: run % groups }),
      GROUP_SIZE,
    ),
    'ms to filter 1,000': await measureFinding(
      RUNS,
      (run) => filter({ group: { $in: several(run) } }),
      GROUP_SIZE * MANY,
    ),
  };
}

export default defineWorkload({
  name: 'indexed-finds',
  title: 'indexed equality in memory: count and delivery',
  sizes: [100_000],
  smokeSizes: [1_000],
  contenders: {
    async thread({ database: name, size }) {
      const { database, people } = await openFilled('thread', name, { size, indexes: ['group'] });
      const count = (/** @type {number} */ run) =>
        people.sync.count({ group: run % groupCount(size) });
      const figures = {
        'ms to count 200': await measureFinding(RUNS, count, GROUP_SIZE),
        ...(await filterGroups(people, size)),
      };
      await remove(database);
      return figures;
    },
    async worker({ database: name, size }) {
      const { database, people } = await openFilled('worker', name, { size, indexes: ['group'] });
      const figures = await filterGroups(people, size);
      await remove(database);
      return figures;
    },
  },
  limits: [
    { figure: 'thread: ms to count 200', atMost: 0.15 },
    { figure: 'worker: ms to filter 200', atMost: 2 },
    { figure: 'worker: ms to filter 1,000', atMost: 8 },
  ],
});
