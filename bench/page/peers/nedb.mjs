import { definePeer } from '../peer.mjs';

export const nedb = definePeer({
  name: 'nedb',
  title: 'nedb',
  packages: ['@seald-io/nedb'],
  kind: 'database',
  keeps: true,
  resident: true,
  runs: 'page',
  key: '_id',
  resolved: 'transaction complete',
  usage:
    'insertAsync takes a list, one update or remove for many ids, indexes by ensureIndexAsync; it stores one string in IndexedDB and rewrites it with each change',
  async load() {
    const { default: Datastore } = await import('@seald-io/nedb');
    return {
      async open(name) {
        const people = new Datastore({ filename: name });
        await people.loadDatabaseAsync();
        for (const fieldName of ['group', 'age', 'score']) {
          await people.ensureIndexAsync({ fieldName });
        }
        const ofAge = (/** @type {number} */ from, /** @type {number} */ to) => ({
          age: { $gte: from, $lt: to },
        });
        const among = (/** @type {string[]} */ ids) => ({ _id: { $in: ids } });
        return {
          insertMany: (documents) => people.insertAsync(documents),
          insert: (document) => people.insertAsync(document),
          get: (_id) => people.findOneAsync({ _id }),
          getMany: (ids) => people.findAsync(among(ids)),
          findGroup: (group) => people.findAsync({ group }),
          findAges: (from, to) => people.findAsync(ofAge(from, to)),
          findZips: (from, to) => people.findAsync({ 'address.zip': { $gte: from, $lt: to } }),
          firstByScore: (limit) => people.findAsync({}).sort({ score: 1 }).limit(limit),
          countAges: (from, to) => people.countAsync(ofAge(from, to)),
          setAges: (ids, age) => people.updateAsync(among(ids), { $set: { age } }, { multi: true }),
          deleteMany: (ids) => people.removeAsync(among(ids), { multi: true }),
          all: () => people.findAsync({}),
          close() {}, // there is nothing to close
        };
      },
    };
  },
});
