import { definePeer } from '../peer.mjs';

/** @typedef {import('idb').IDBPDatabase<any>} Database */

const RELAXED = /** @type {const} */ ({ durability: 'relaxed' });

/**
 * One transaction for all writes, without waiting for single requests.
 *
 * @param {Database} database
 * @param {(people: import('idb').IDBPObjectStore<any, any, 'people', 'readwrite'>) => void |
 *   Promise<void>} write
 */
async function writeAll(database, write) {
  const transaction = database.transaction('people', 'readwrite', RELAXED);
  await write(transaction.store);
  transaction.commit();
  await transaction.done;
}

export const idb = definePeer({
  name: 'idb',
  title: 'idb, by hand',
  packages: ['idb'],
  kind: 'database',
  keeps: true,
  resident: false,
  runs: 'page',
  key: 'id',
  resolved: 'transaction complete',
  usage:
    'one transaction for many, awaiting only its end, explicit commit(), relaxed durability; getAll and count over indexes',
  async load() {
    const { openDB } = await import('idb');
    return {
      async open(name) {
        /** @type {Database} */
        const database = await openDB(name, 1, {
          upgrade(upgraded) {
            const people = upgraded.createObjectStore('people', { keyPath: 'id' });
            for (const field of ['group', 'age', 'score']) people.createIndex(field, field);
          },
        });
        const ages = (/** @type {number} */ from, /** @type {number} */ to) =>
          IDBKeyRange.bound(from, to, false, true);
        return {
          insertMany: (documents) =>
            writeAll(database, (people) => {
              for (const document of documents) people.add(document);
            }),
          insert: (document) =>
            writeAll(database, (people) => {
              people.add(document);
            }),
          get: (id) => database.get('people', id),
          getMany(ids) {
            const { store } = database.transaction('people');
            return Promise.all(ids.map((id) => store.get(id)));
          },
          findGroup: (group) => database.getAllFromIndex('people', 'group', group),
          findAges: (from, to) => database.getAllFromIndex('people', 'age', ages(from, to)),
          async findZips(from, to) {
            const documents = await database.getAll('people');
            return documents.filter(({ address }) => address.zip >= from && address.zip < to);
          },
          firstByScore: (limit) => database.getAllFromIndex('people', 'score', null, limit),
          countAges: (from, to) => database.countFromIndex('people', 'age', ages(from, to)),
          setAges: (ids, age) =>
            writeAll(database, async (people) => {
              await Promise.all(
                ids.map(async (id) => void people.put({ ...(await people.get(id)), age })),
              );
            }),
          deleteMany: (ids) =>
            writeAll(database, (people) => {
              for (const id of ids) people.delete(id);
            }),
          all: () => database.getAll('people'),
          close: () => database.close(),
        };
      },
    };
  },
});
