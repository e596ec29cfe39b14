import { definePeer } from '../peer.mjs';

/**
 * Fails if the worker did not start or IndexedDB is missing: the figures would be wrong.
 *
 * @param {{ engine: string, storage: string }} status
 * @param {'thread' | 'worker'} client
 */
function checkEngine({ engine, storage }, client) {
  if (engine !== client || storage !== 'indexeddb') {
    throw new Error(
      `Cairn's engine runs in the ${engine} on ${storage}, but this benchmark measures IndexedDB.`,
    );
  }
}

/**
 * @param {'thread' | 'worker'} client
 * @param {boolean} caching
 */
function cairn(client, caching) {
  const uncached = caching ? '' : '-uncached';
  return definePeer({
    name: `cairn-${client}${uncached}`,
    title: `Cairn, ${client}${caching ? ', cached' : ''}`,
    packages: [],
    kind: 'database',
    keeps: true,
    resident: caching,
    runs: client === 'thread' ? 'page' : 'worker',
    key: '_id',
    resolved: 'in memory',
    savedBy: 'save()',
    usage: `${client === 'thread' ? 'Database' : 'connect'}, caching: ${caching}, indexes on group, age and score${
      client === 'thread' && caching ? '; reads through collection.sync' : ''
    }`,
    async load({ cairn: loadLibrary }) {
      const { connect, Database } = await loadLibrary();
      return {
        async open(name) {
          const database = client === 'thread' ? new Database({ name }) : connect({ name });
          const people = new database.Collection({
            name: 'people',
            type: 'DOCUMENT_BASED',
            caching,
            indexes: ['group', 'age', 'score'],
          });
          let reads = people;
          if (client === 'thread' && caching) {
            const answerAtOnce = () => {
              reads = people.sync;
            };
            people.ready.then(answerAtOnce, () => {}); // the failing call reports the error
          }
          const ofAge = (/** @type {number} */ from, /** @type {number} */ to) => ({
            age: { $gte: from, $lt: to },
          });
          return {
            insertMany: (documents) => people.insertMany(documents),
            insert: (document) => people.insert(document),
            get: (id) => reads.get(id),
            getMany: (ids) => reads.filter({ _id: { $in: ids } }),
            findGroup: (group) => reads.filter({ group }),
            findAges: (from, to) => reads.filter(ofAge(from, to)),
            findZips: (from, to) => reads.filter({ 'address.zip': { $gte: from, $lt: to } }),
            firstByScore: (limit) => reads.filter({}, { sort: { score: 1 }, limit }),
            countAges: (from, to) => reads.count(ofAge(from, to)),
            setAges: (ids, age) => Promise.all(ids.map((id) => people.patch(id, { age }))),
            deleteMany: (ids) => people.deleteMany({ _id: { $in: ids } }),
            all: () => reads.filter({}),
            async watchGroup(group, changed) {
              const live = people.live({ group });
              const tell = () => changed(live.getSnapshot().data ?? []);
              const stop = live.subscribe(tell);
              await live.ready;
              tell();
              return stop;
            },
            saved: () => people.save(),
            close() {
              checkEngine(database.status, client);
              return database.close();
            },
          };
        },
      };
    },
  });
}

export const cairnWorker = cairn('worker', true);
export const cairnWorkerUncached = cairn('worker', false);
export const cairnThread = cairn('thread', true);
export const cairnThreadUncached = cairn('thread', false);
