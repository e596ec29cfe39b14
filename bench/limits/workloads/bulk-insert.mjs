import { Dexie } from 'dexie';
import { makeDocuments } from '../../page/documents.mjs';
import { timeAndWatch } from '../../page/measure.mjs';
import { openPeople, openWarm, remove } from '../page/cairn.mjs';
import { deletePlain, openPlain, putRecords } from '../page/plain-indexeddb.mjs';
import { defineWorkload } from '../workload.mjs';

/** @param {() => Promise<unknown>} run */
async function timeAndBlocks(run) {
  const { ms, longest, longTask } = await timeAndWatch(run);
  return { ms, 'blocked ms': longest, 'long task ms': longTask };
}

/**
 * @param {import('../page/cairn.mjs').ClientName} client
 * @returns {import('../workload.mjs').Contender}
 */
const insertThrough =
  (client) =>
  async ({ database: name, size }) => {
    const database = await openWarm(client, name);
    const people = openPeople(database);
    await people.ready;
    const documents = makeDocuments(size);
    const figures = await timeAndBlocks(async () => {
      await people.insertMany(documents);
      await people.save();
    });
    if ((await people.count()) !== size) throw new Error('Documents are missing.');
    await remove(database);
    return figures;
  };

export default defineWorkload({
  name: 'bulk-insert',
  title: 'insertMany and save()',
  sizes: [10_000, 100_000],
  smokeSizes: [500],
  contenders: {
    async raw({ database: name, size }) {
      const database = await openPlain(name, 'documents');
      await putRecords(database, 'documents', makeDocuments(2_000, 2));
      const documents = makeDocuments(size);
      const figures = await timeAndBlocks(() => putRecords(database, 'documents', documents));
      database.close();
      await deletePlain(name);
      return figures;
    },
    thread: insertThrough('thread'),
    worker: insertThrough('worker'),
    files: insertThrough('files'),
    async dexie({ database: name, size }) {
      const database = new Dexie(name);
      database.version(1).stores({ people: '++id, age' });
      await database.table('people').bulkPut(makeDocuments(200, 2));
      const documents = makeDocuments(size);
      const figures = await timeAndBlocks(() => database.table('people').bulkPut(documents));
      await database.delete();
      return figures;
    },
  },
  limits: [
    { figure: 'thread: ms', per: 'raw: ms', atMost: 1.8 },
    { figure: 'worker: ms', per: 'raw: ms', atMost: 2.2 },
    { figure: 'files: ms', per: 'worker: ms', atMost: 1 },
    { figure: 'dexie: ms', per: 'thread: ms', atLeast: 20 },
    { figure: 'dexie: ms', per: 'worker: ms', atLeast: 20 },
    { figure: 'thread: blocked ms', atMost: 50 },
    { figure: 'worker: blocked ms', atMost: 50 },
  ],
});
