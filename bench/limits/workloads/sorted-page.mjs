import { firstByHand } from '../../page/by-hand/first-by-hand.mjs';
import { makeDocuments } from '../../page/documents.mjs';
import { measure, measureMiddle, middle } from '../../page/measure.mjs';
import { openFilled, remove } from '../page/cairn.mjs';
import { defineWorkload } from '../workload.mjs';

/**
 * @typedef {import('../../page/documents.mjs').Person} Person
 * @typedef {keyof typeof ORDERS} Order
 */

const ORDERS = /** @type {const} */ ({
  age: { sort: { age: 1 } },
  email: { sort: { email: 1 } },
  'email in Swedish': { sort: { email: 1 }, collation: 'sv' },
  'address.zip': { sort: { 'address.zip': 1 } },
});

const LIMIT = 20;
const WARM_UP = 9;
const SCANS = 9;
const INDEX_READS = 200;

/** @param {number} runs @param {() => readonly unknown[]} first */
async function measureWarm(runs, first) {
  for (let run = 0; run < WARM_UP; run++) {
    if (first().length !== LIMIT) throw new Error('Documents are missing.');
  }
  return measureMiddle(runs, first);
}

/** @param {Person[]} documents @param {(person: Person) => string | number} keyOf */
const byHand = (documents, keyOf) => measureWarm(SCANS, () => firstByHand(documents, keyOf, LIMIT));

/** @param {import('../page/cairn.mjs').People} people @param {Order} order @param {number} runs */
const byCairn = (people, order, runs) =>
  measureWarm(runs, () => people.sync.filter({}, { ...ORDERS[order], limit: LIMIT }));

/**
 * A call, with its delivery: `sync` has prepared queries for sort orders without a collation alone.
 *
 * @param {import('../page/cairn.mjs').People} people @param {Order} order
 */
async function callMs(people, order) {
  const ask = async () => {
    for (let run = 0; run < INDEX_READS; run++)
      await people.filter({}, { ...ORDERS[order], limit: LIMIT });
  };
  await ask();
  return (await measure(ask)).ms / INDEX_READS;
}

/**
 * The engine's own time, without delivery. @param {import('../page/cairn.mjs').People} people
 * @param {Order} order
 */
async function engineMs(people, order) {
  const { result } = await measure(async () => {
    const times = [];
    for (let run = 0; run < INDEX_READS; run++) {
      const explained = await people.explain({}, { ...ORDERS[order], limit: LIMIT });
      times.push(explained.engine_ms);
    }
    return middle(times);
  });
  return result;
}

export default defineWorkload({
  name: 'sorted-page',
  title: 'the first 20 by a sort order, in the thread, in memory',
  sizes: [100_000],
  smokeSizes: [1_000],
  contenders: {
    async 'heap by hand'({ size }) {
      const documents = makeDocuments(size);
      return {
        'ms by age': await byHand(documents, ({ age }) => age),
        'ms by email': await byHand(documents, ({ email }) => email),
        'ms by address.zip': await byHand(documents, ({ address }) => address.zip),
      };
    },
    async scan({ database: name, size }) {
      const { database, people } = await openFilled('thread', name, { size });
      const figures = {
        'ms by age': await byCairn(people, 'age', SCANS),
        'ms by email': await byCairn(people, 'email', SCANS),
        'ms by address.zip': await byCairn(people, 'address.zip', SCANS),
      };
      await remove(database);
      return figures;
    },
    async index({ database: name, size }) {
      const indexes = ['age', 'email', { fields: 'email', collation: 'sv' }];
      const { database, people } = await openFilled('thread', name, { size, indexes });
      const figures = {
        'ms by age': await byCairn(people, 'age', INDEX_READS),
        'ms by age, engine': await engineMs(people, 'age'),
        'ms by email': await byCairn(people, 'email', INDEX_READS),
        'ms by email, engine': await engineMs(people, 'email'),
        'ms by email in Swedish': await byCairn(people, 'email in Swedish', INDEX_READS),
        'ms by email, call': await callMs(people, 'email'),
        'ms by email in Swedish, call': await callMs(people, 'email in Swedish'),
      };
      await remove(database);
      return figures;
    },
  },
  limits: [
    { figure: 'index: ms by age, engine', atMost: 0.05 },
    { figure: 'index: ms by email, engine', atMost: 0.05 },
    { figure: 'index: ms by email in Swedish, call', per: 'index: ms by email, call', atMost: 1.5 },
    ...['age', 'email', 'address.zip'].map((path) => ({
      figure: `scan: ms by ${path}`,
      per: `heap by hand: ms by ${path}`,
      atMost: 1.5,
    })),
  ],
});
