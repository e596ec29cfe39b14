import { definePeer } from '../peer.mjs';

const text = (/** @type {number} */ maxLength = 200) => ({ type: 'string', maxLength });
const number = (/** @type {number} */ maximum) => ({
  type: 'number',
  minimum: 0,
  maximum,
  multipleOf: 1,
});

const schema = {
  version: 0,
  primaryKey: 'id',
  type: 'object',
  properties: {
    id: text(20),
    name: text(),
    email: text(),
    age: number(10_000),
    region: text(),
    group: number(1_000_000),
    active: { type: 'boolean' },
    address: { type: 'object', properties: { city: text(), street: text(), zip: text() } },
    tags: { type: 'array', items: { type: 'string' } },
    bio: text(),
    score: number(1_000_000_000),
  },
  required: ['id', 'group', 'age', 'score'],
  indexes: ['group', 'age', 'score'],
};

/**
 * @param {Pick<import('../peer.mjs').Peer, 'name' | 'title' | 'kind' | 'keeps' | 'resident' |
 *   'resolved'>} which
 * @param {() => Promise<any>} makeStorage
 */
const rxdb = (which, makeStorage) =>
  definePeer({
    ...which,
    packages: ['rxdb', 'rxjs'],
    runs: 'page',
    key: 'id',
    usage:
      'bulkInsert, bulkUpsert, bulkRemove and findByIds for many, multiInstance off for one tab, no dev mode, indexes with bounds; results are RxDocuments',
    plain: (document) => document.toJSON?.() ?? document,
    async load() {
      const { createRxDatabase } = await import('rxdb/plugins/core');
      const storage = await makeStorage();
      return {
        async open(name) {
          const database = await createRxDatabase({ name, storage, multiInstance: false });
          const { people } = await database.addCollections({
            people: { schema: /** @type {any} */ (schema) },
          });
          if (!people) throw new Error('RxDB made no collection.');
          const ofAge = (/** @type {number} */ from, /** @type {number} */ to) => ({
            selector: { age: { $gte: from, $lt: to } },
          });
          /** @param {{ error: readonly unknown[] }} result */
          function throwRefused({ error: [first] }) {
            if (first) throw new Error(`RxDB refused a document: ${JSON.stringify(first)}`);
          }
          return {
            insertMany: async (documents) => throwRefused(await people.bulkInsert(documents)),
            insert: (document) => people.insert(document),
            get: (id) => people.findOne(id).exec(),
            getMany: async (ids) => [...(await people.findByIds(ids).exec()).values()],
            findGroup: (group) => people.find({ selector: { group } }).exec(),
            findAges: (from, to) => people.find(ofAge(from, to)).exec(),
            findZips: (from, to) =>
              people.find({ selector: { 'address.zip': { $gte: from, $lt: to } } }).exec(),
            firstByScore: (limit) => people.find({ sort: [{ score: 'asc' }], limit }).exec(),
            countAges: (from, to) => people.count(ofAge(from, to)).exec(),
            async setAges(ids, age) {
              const found = await people.findByIds(ids).exec();
              const changed = [...found.values()].map((document) => ({
                ...document.toJSON(),
                age,
              }));
              throwRefused(await people.bulkUpsert(changed));
            },
            deleteMany: async (ids) => throwRefused(await people.bulkRemove(ids)),
            all: () => people.find().exec(),
            async watchGroup(group, changed) {
              const watch = people.find({ selector: { group } }).$.subscribe(changed);
              return () => watch.unsubscribe();
            },
            close: () => database.close(),
          };
        },
      };
    },
  });

export const rxdbDexie = rxdb(
  {
    name: 'rxdb-dexie',
    title: 'RxDB, Dexie storage',
    kind: 'database',
    keeps: true,
    resident: false,
    resolved: 'transaction complete',
  },
  async () => (await import('rxdb/plugins/storage-dexie')).getRxStorageDexie(),
);

export const rxdbMemory = rxdb(
  {
    name: 'rxdb-memory',
    title: 'RxDB, memory',
    kind: 'database',
    keeps: false,
    resident: true,
    resolved: 'in memory',
  },
  async () => (await import('rxdb/plugins/storage-memory')).getRxStorageMemory(),
);
