import { PeopleInMemory } from '../by-hand/people-in-memory.mjs';
import { definePeer } from '../peer.mjs';

/** Documents in one record. */
const SEGMENT = 340;

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
const answer = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

/** @param {string} name @returns {Promise<IDBDatabase>} */
function openDatabase(name) {
  const request = indexedDB.open(name);
  request.onupgradeneeded = () => {
    request.result.createObjectStore('segments', { autoIncrement: true });
  };
  return answer(request);
}

/** @typedef {{ documents: object[] } | { deleted: string[] }} Segment */

/** @param {IDBDatabase} database @param {readonly Segment[]} segments @returns {Promise<void>} */
function write(database, segments) {
  const transaction = database.transaction('segments', 'readwrite', { durability: 'relaxed' });
  const store = transaction.objectStore('segments');
  for (const segment of segments) store.add(segment);
  transaction.commit();
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
  });
}

/** @param {PeopleInMemory} people @param {Segment} segment */
function fold(people, segment) {
  if ('deleted' in segment) people.deleteMany(segment.deleted);
  else people.insertMany(segment.documents);
}

/**
 * A bare log of segments: no checks, no encoding, no index. Opening reads all of it.
 */
export const indexedDb = definePeer({
  name: 'indexeddb',
  title: 'IndexedDB by hand, in segments',
  packages: [],
  kind: 'limit',
  keeps: true,
  resident: false,
  runs: 'page',
  key: 'id',
  resolved: 'transaction complete',
  usage: `records of ${SEGMENT} documents, one transaction a write with relaxed durability and an explicit commit(), inserts of one moment in one transaction`,
  async load() {
    return {
      async open(name) {
        const database = await openDatabase(name);
        const people = new PeopleInMemory();
        const read = async () => {
          const store = database.transaction('segments').objectStore('segments');
          for (const segment of await answer(store.getAll())) fold(people, segment);
        };
        /** @type {object[]} */
        let gathered = [];
        /** @type {Promise<void> | undefined} */
        let gathering;
        /** Inserts of one microtask go together. */
        async function writeGathered() {
          await undefined;
          const documents = gathered;
          gathered = [];
          gathering = undefined;
          await write(database, [{ documents }]);
        }
        return {
          insertMany(documents) {
            const segments = [];
            for (let from = 0; from < documents.length; from += SEGMENT) {
              segments.push({ documents: documents.slice(from, from + SEGMENT) });
            }
            return write(database, segments);
          },
          insert(document) {
            gathered.push(document);
            gathering ??= writeGathered();
            return gathering;
          },
          async setAges(ids, age) {
            if (people.all().length === 0) await read();
            await write(database, [{ documents: people.setAges(ids, age) }]);
          },
          deleteMany: (ids) => write(database, [{ deleted: ids }]),
          async all() {
            await read();
            return people.all();
          },
          close: () => database.close(),
        };
      },
    };
  },
});
