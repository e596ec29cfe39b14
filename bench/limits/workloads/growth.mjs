import { makeDocuments } from '../../page/documents.mjs';
import { measure } from '../../page/measure.mjs';
import { getAtOnce, openClient, openPeople, openWarm, remove, scatter } from '../page/cairn.mjs';
import { defineWorkload } from '../workload.mjs';

const GETS = 1_000;

/**
 * @param {import('../page/cairn.mjs').ClientName} client
 * @returns {import('../workload.mjs').Contender}
 */
const growThrough =
  (client) =>
  async ({ database: name, size }) => {
    const first = await openWarm(client, name);
    const inserting = openPeople(first);
    await inserting.ready;
    const documents = makeDocuments(size);
    const inserted = await measure(async () => {
      const stored = await inserting.insertMany(documents);
      await inserting.save();
      return stored;
    });
    const ids = scatter(
      inserted.result.map(({ _id }) => _id),
      GETS,
    );
    await first.close();
    const database = await openClient(client, name);
    await openPeople(database, { name: 'warm-up', caching: true }).ready;
    // Includes the construction, which starts the opening.
    const loaded = await measure(async () => {
      const opened = openPeople(database, { caching: true });
      await opened.ready;
      return opened;
    });
    const people = loaded.result;
    await getAtOnce(people, [...ids].reverse());
    const got = await measure(() => getAtOnce(people, ids));
    await remove(database);
    return {
      'µs to insert': (inserted.ms * 1000) / size,
      'µs to load': (loaded.ms * 1000) / size,
      'µs to get': (got.ms * 1000) / ids.length,
    };
  };

export default defineWorkload({
  name: 'growth',
  title: 'cost per document as the collection grows',
  sizes: [10_000, 50_000, 135_233],
  smokeSizes: [500, 1_000],
  contenders: { thread: growThrough('thread'), worker: growThrough('worker') },
  limits: ['thread', 'worker'].flatMap((client) =>
    ['insert', 'load', 'get'].map((what) => ({
      figure: `${client}: µs to ${what}`,
      compare: /** @type {const} */ ('acrossSizes'),
    })),
  ),
});
