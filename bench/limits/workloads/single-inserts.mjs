import { makeDocuments } from '../../page/documents.mjs';
import { measure, time } from '../../page/measure.mjs';
import { openPeople, openWarm, remove } from '../page/cairn.mjs';
import { defineWorkload } from '../workload.mjs';

/**
 * @param {import('../page/cairn.mjs').ClientName} client
 * @returns {import('../workload.mjs').Contender}
 */
const insertThrough =
  (client) =>
  async ({ database: name, size }) => {
    const database = await openWarm(client, name);
    const people = openPeople(database);
    const insertAll = (/** @type {object[]} */ documents) =>
      Promise.all(documents.map((document) => people.insert(/** @type {any} */ (document))));
    await insertAll(makeDocuments(size, 2)); // warms up single inserts
    await people.save();
    const documents = makeDocuments(size);
    const acknowledged = await measure(() => insertAll(documents));
    const saved = await time(() => people.save());
    await remove(database);
    return {
      'µs each': (acknowledged.ms * 1000) / size,
      'µs each until saved': ((acknowledged.ms + saved.ms) * 1000) / size,
    };
  };

export default defineWorkload({
  name: 'single-inserts',
  title: 'insert, all at once, until acknowledged',
  sizes: [1_000],
  smokeSizes: [100],
  contenders: { thread: insertThrough('thread'), worker: insertThrough('worker') },
  limits: [{ figure: 'worker: µs each', atMost: 20 }],
});
