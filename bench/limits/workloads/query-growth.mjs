import { groupCount, makeParts } from '../../page/documents.mjs';
import { measure, measureMiddle } from '../../page/measure.mjs';
import { fill, library, openClient, openPeople, openWarm, remove } from '../page/cairn.mjs';
import { defineWorkload } from '../workload.mjs';

/** @typedef {import('../page/cairn.mjs').ClientName} ClientName */

const INDEXES = ['group', 'age'];
const FINDS = 50;
const SCANS = 3;
/** A size at which a scan ends before its code is optimised. */
const WARM_UP = 9;
const CRITERIA = { 'address.city': 'Lima', region: { $in: ['north', 'east'] } };

/** @param {ClientName} client @returns {import('../workload.mjs').Contender} */
const insertThrough =
  (client) =>
  async ({ database: name, size }) => {
    const database = await openWarm(client, name);
    const people = openPeople(database, { indexes: INDEXES });
    await people.ready;
    let ms = 0;
    for (const documents of makeParts(size)) {
      const inserted = await measure(async () => {
        await people.insertMany(documents);
        await people.save();
      });
      ms += inserted.ms;
    }
    await remove(database);
    return { 'µs to insert': (ms * 1000) / size };
  };

/**
 * @param {ClientName} client @param {boolean} caching @returns
 *   {import('../workload.mjs').Contender}
 */
const askThrough =
  (client, caching) =>
  async ({ prepared: name, size }) => {
    const groups = groupCount(size);
    const { connect, Database } = await library();
    const opened = await measure(async () => {
      const database = client === 'thread' ? new Database({ name }) : connect({ name });
      const people = openPeople(database, { caching, indexes: INDEXES });
      await people.filter({ group: 1 });
      return { database, people };
    });
    const { database, people } = opened.result;
    await people.ready;
    for (let run = 0; run < (caching ? WARM_UP : 1); run++) await people.count(CRITERIA);
    const scan = await measureMiddle(SCANS, () => people.count(CRITERIA));
    const figures = {
      'ms to open and find 200': opened.ms,
      'ms to find 200': await measureMiddle(FINDS, (run) => people.filter({ group: run % groups })),
      'ms to sort, limit 20': await measureMiddle(FINDS, () =>
        people.filter({}, { sort: { age: 1 }, limit: 20 }),
      ),
      'µs to scan': (scan * 1000) / size,
    };
    await database.close();
    return figures;
  };

const METRICS = ['ms to open and find 200', 'ms to find 200', 'ms to sort, limit 20', 'µs to scan'];

export default defineWorkload({
  name: 'query-growth',
  title: 'cost of queries as the collection grows; µs per document',
  sizes: [10_000, 100_000, 1_000_000],
  smokeSizes: [1_000, 2_000],
  freshPage: true,
  async prepare({ database: name, size }) {
    const database = await openClient('thread', name);
    await fill(openPeople(database, { indexes: INDEXES }), size);
    await database.close();
    return name;
  },
  contenders: {
    'insert, thread': insertThrough('thread'),
    'insert, worker': insertThrough('worker'),
    'thread, cached': askThrough('thread', true),
    'worker, cached': askThrough('worker', true),
    'worker, not cached': askThrough('worker', false),
  },
  limits: [
    ...['insert, thread: µs to insert', 'insert, worker: µs to insert'],
    ...['thread, cached', 'worker, cached', 'worker, not cached'].flatMap((contender) =>
      METRICS.map((metric) => `${contender}: ${metric}`),
    ),
  ].map((figure) => ({ figure, compare: /** @type {const} */ ('acrossSizes') })),
});
