import { definePeer } from '../peer.mjs';

/**
 * @typedef {object} Setup
 * @property {'thread' | 'worker'} client
 * @property {'indexeddb' | 'opfs'} storage
 * @property {Record<string, unknown>} options of the collection, besides its indexes
 */

/**
 * Fails if the worker did not start or the storage is another one: the figures would be wrong.
 *
 * @param {{ engine: string, storage: string }} status
 * @param {Setup} setup
 */
function checkEngine({ engine, storage }, setup) {
  if (engine !== setup.client || storage !== setup.storage) {
    throw new Error(
      `Cairn's engine runs in the ${engine} on ${storage}, but this benchmark measures the ${setup.client} on ${setup.storage}.`,
    );
  }
}

/**
 * @param {string} name
 * @param {string} title
 * @param {Setup} setup
 */
function cairn(name, title, setup) {
  const { client, storage, options } = setup;
  const resident = options.caching === true;
  const answersAtOnce = client === 'thread' && resident;
  return definePeer({
    name,
    title,
    packages: [],
    kind: 'database',
    keeps: true,
    resident,
    runs: client === 'thread' ? 'page' : 'worker',
    key: '_id',
    resolved: 'in memory',
    savedBy: 'save()',
    usage: usageOf(setup, answersAtOnce),
    async load({ cairn: loadLibrary }) {
      const { connect, Database } = await loadLibrary();
      return {
        async open(name) {
          const database =
            client === 'thread' ? new Database({ name }) : connect({ name, storage });
          const people = new database.Collection({
            name: 'people',
            type: 'DOCUMENT_BASED',
            indexes: ['group', 'age', 'score'],
            ...options,
          });
          let reads = people;
          if (answersAtOnce) {
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
            // In one message: a save takes in the calls before it.
            insertSaved: (document) => Promise.all([people.insert(document), people.save()]),
            get: (id) => reads.get(id),
            getMany: (ids) => reads.getMany(ids),
            findGroup: (group) => reads.filter({ group }),
            findAges: (from, to) => reads.filter(ofAge(from, to)),
            findZips: (from, to) => reads.filter({ 'address.zip': { $gte: from, $lt: to } }),
            firstByScore: (limit) => reads.filter({}, { sort: { score: 1 }, limit }),
            countAges: (from, to) => reads.count(ofAge(from, to)),
            setAges: (ids, age) => people.patchMany({ _id: { $in: ids } }, { age }),
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
              checkEngine(database.status, setup);
              return database.close();
            },
          };
        },
      };
    },
  });
}

/** @param {Setup} setup @param {boolean} answersAtOnce */
function usageOf({ client, storage, options }, answersAtOnce) {
  const settings = Object.entries(options).map(([option, value]) => `${option}: ${value}`);
  const of = storage === 'opfs' ? [`storage: '${storage}'`, ...settings] : settings;
  return `${client === 'thread' ? 'Database' : 'connect'}, ${of.join(', ')}, indexes on group, age and score${
    answersAtOnce ? '; reads through collection.sync' : ''
  }`;
}

const IN_WORKER = /** @type {const} */ ({ client: 'worker', storage: 'indexeddb' });
const IN_THREAD = /** @type {const} */ ({ client: 'thread', storage: 'indexeddb' });
const CACHED = { caching: true };
const UNCACHED = { caching: false };
const SHARED = { ...CACHED, shared_documents: true };

export const cairnWorker = cairn('cairn-worker', 'Cairn, worker, cached', {
  ...IN_WORKER,
  options: CACHED,
});
export const cairnWorkerUncached = cairn('cairn-worker-uncached', 'Cairn, worker', {
  ...IN_WORKER,
  options: UNCACHED,
});
export const cairnFiles = cairn('cairn-files', 'Cairn, files', {
  client: 'worker',
  storage: 'opfs',
  options: UNCACHED,
});
export const cairnThread = cairn('cairn-thread', 'Cairn, thread, cached', {
  ...IN_THREAD,
  options: CACHED,
});
export const cairnThreadUncached = cairn('cairn-thread-uncached', 'Cairn, thread', {
  ...IN_THREAD,
  options: UNCACHED,
});
export const cairnThreadShared = cairn('cairn-thread-shared', 'Cairn, thread, shared', {
  ...IN_THREAD,
  options: SHARED,
});
