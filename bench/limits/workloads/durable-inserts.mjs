import { makeDocuments } from '../../page/documents.mjs';
import { measure } from '../../page/measure.mjs';
import { openPeople, openWarm, remove } from '../page/cairn.mjs';
import { deletePlain, openPlain, putOne } from '../page/plain-indexeddb.mjs';
import { defineWorkload } from '../workload.mjs';

/** @param {number} size @param {(document: any) => Promise<unknown>} insert until it is durable */
async function insertEach(size, insert) {
  for (const document of makeDocuments(size, 2)) await insert(document); // warms up
  const documents = makeDocuments(size);
  const { ms } = await measure(async () => {
    for (const document of documents) await insert(document);
  });
  return { 'µs each': (ms * 1000) / size };
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
    const figures = await insertEach(size, (document) => {
      people.insert(document).catch(() => {}); // save() rejects as well
      return people.save();
    });
    await remove(database);
    return figures;
  };

export default defineWorkload({
  name: 'durable-inserts',
  title: 'insert and save(), one document after the other, each durable before the next',
  sizes: [1_000],
  smokeSizes: [20],
  contenders: {
    async raw({ database: name, size }) {
      const database = await openPlain(name, 'documents');
      let key = 0;
      const figures = await insertEach(size, (document) =>
        putOne(database, 'documents', document, ++key),
      );
      database.close();
      await deletePlain(name);
      return figures;
    },
    worker: insertThrough('worker'),
    files: insertThrough('files'),
  },
  limits: [{ figure: 'files: µs each', per: 'raw: µs each', atMost: 0.5 }],
});
