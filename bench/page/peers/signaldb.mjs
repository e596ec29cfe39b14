import { definePeer } from '../peer.mjs';

export const signaldb = definePeer({
  name: 'signaldb',
  title: 'SignalDB, IndexedDB persistence',
  packages: ['@signaldb/core', '@signaldb/indexeddb'],
  kind: 'database',
  keeps: true,
  resident: true,
  runs: 'page',
  key: 'id',
  resolved: 'in memory',
  savedBy: "the event 'persistence.pushCompleted'",
  usage:
    'insertMany, batch() around many changes, indices for group, age and score; reads return the stored objects',
  async load() {
    const [{ Collection, createIndex }, { default: createIndexedDBAdapter }] = await Promise.all([
      import('@signaldb/core'),
      import('@signaldb/indexeddb'),
    ]);
    return {
      async open(name) {
        /** @type {import('@signaldb/core').Collection<any, string>} */
        const people = new Collection({
          name,
          persistence: createIndexedDBAdapter(name),
          indices: [createIndex('group'), createIndex('age'), createIndex('score')],
        });
        /** @type {unknown} */
        let refused;
        people.on('persistence.error', (error) => {
          refused = error;
        });
        await people.isReady();
        const ofAge = (/** @type {number} */ from, /** @type {number} */ to) => ({
          age: { $gte: from, $lt: to },
        });
        return {
          insertMany: (documents) => people.insertMany(documents),
          insert: (document) => people.insert(document),
          get: (id) => people.findOne({ id }, { reactive: false }),
          getMany: (ids) => people.find({ id: { $in: ids } }, { reactive: false }).fetch(),
          findGroup: (group) => people.find({ group }, { reactive: false }).fetch(),
          findAges: (from, to) => people.find(ofAge(from, to), { reactive: false }).fetch(),
          findZips: (from, to) =>
            people.find({ 'address.zip': { $gte: from, $lt: to } }, { reactive: false }).fetch(),
          firstByScore: (limit) =>
            people.find({}, { sort: { score: 1 }, limit, reactive: false }).fetch(),
          countAges: (from, to) => people.find(ofAge(from, to), { reactive: false }).count(),
          setAges(ids, age) {
            const setEach = () => {
              for (const id of ids) people.updateOne({ id }, { $set: { age } });
            };
            if (ids.length === 1) setEach();
            else people.batch(setEach);
          },
          deleteMany: (ids) =>
            people.batch(() => {
              for (const id of ids) people.removeOne({ id });
            }),
          all: () => people.find({}, { reactive: false }).fetch(),
          async watchGroup(group, changed) {
            const found = people.find({ group }, { reactive: false });
            const tell = () => changed(people.find({ group }, { reactive: false }).fetch());
            const stop = found.observeChanges({ added: tell, changed: tell, removed: tell }, true);
            tell();
            return stop;
          },
          async saved() {
            while (people.isPushing()) {
              await new Promise((resolve) =>
                people.once('persistence.pushCompleted', () => resolve(undefined)),
              );
            }
            if (refused) throw refused;
          },
          close: () => people.dispose(),
        };
      },
    };
  },
});
