import { makeDocuments } from '../../page/documents.mjs';
import { measureMiddle } from '../../page/measure.mjs';
import { openFilled, remove } from '../page/cairn.mjs';
import { loadMingo } from '../page/mingo.mjs';
import { defineWorkload } from '../workload.mjs';

const RUNS = 9;
const CRITERIA = { 'address.city': 'Lima', age: { $gte: 20, $lt: 40 } };

/** Warms up code that all criteria share, as in an app. */
const OTHERS = [
  { age: 33 },
  { tags: 'river', active: true },
  { 'address.zip': { $gt: '50000' }, region: { $in: ['north', 'east'] } },
  { $or: [{ 'address.city': { $ne: 'Oslo' } }, { group: { $lte: 3 } }] },
  { name: { $regex: '^Ada' }, 'address.street': { $exists: true } },
];

/**
 * @param {(criteria: object) => number | Promise<number>} count
 * @param {readonly object[]} [others]
 */
async function countWarm(count, others = OTHERS) {
  for (const criteria of [...others, ...others, CRITERIA]) {
    if ((await count(criteria)) === 0) throw new Error('Documents are missing.');
  }
  return { ms: await measureMiddle(RUNS, () => count(CRITERIA)) };
}

/** @param {readonly import('../../page/documents.mjs').Person[]} documents */
function countByHand(documents) {
  let found = 0;
  for (const { address, age } of documents) {
    if (address.city === 'Lima' && age >= 20 && age < 40) found++;
  }
  return found;
}

export default defineWorkload({
  name: 'scan',
  title: 'count by two conditions, one on a dotted path, in memory',
  sizes: [100_000],
  smokeSizes: [1_000],
  contenders: {
    async 'loop by hand'({ size }) {
      const documents = makeDocuments(size);
      return countWarm(() => countByHand(documents), []);
    },
    async mingo({ size }) {
      const { Query } = await loadMingo();
      const documents = makeDocuments(size);
      const find = (/** @type {any} */ criteria) =>
        new Query(criteria).find(documents).all().length;
      const test = (/** @type {any} */ criteria) => {
        const query = new Query(criteria);
        let found = 0;
        for (const document of documents) if (query.test(document)) found++;
        return found;
      };
      return { ...(await countWarm(find)), 'ms, test()': (await countWarm(test)).ms };
    },
    async thread({ database: name, size }) {
      const { database, people } = await openFilled('thread', name, { size });
      const figures = await countWarm((criteria) => people.sync.count(criteria));
      await remove(database);
      return figures;
    },
    async worker({ database: name, size }) {
      const { database, people } = await openFilled('worker', name, { size });
      const figures = await countWarm((criteria) => people.count(criteria));
      await remove(database);
      return figures;
    },
  },
  limits: [
    { figure: 'thread: ms', per: 'loop by hand: ms', atMost: 2 },
    { figure: 'mingo: ms', per: 'thread: ms', atLeast: 8 },
    { figure: 'mingo: ms, test()', per: 'thread: ms' },
    { figure: 'worker: ms', per: 'thread: ms' },
  ],
});
