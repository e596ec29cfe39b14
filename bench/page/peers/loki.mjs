import { definePeer } from '../peer.mjs';

const MANY = 100;

/**
 * @param {(done: (error?: unknown) => void) => void} call
 * @returns {Promise<void>}
 */
const called = (call) =>
  new Promise((resolve, reject) => call((error) => (error ? reject(error) : resolve())));

/** @param {boolean} clone whether callers get copies */
const lokiThat = (clone) =>
  definePeer({
    name: clone ? 'lokijs-clone' : 'lokijs',
    title: clone ? 'LokiJS with clone: true' : 'LokiJS, incremental adapter',
    packages: ['lokijs'],
    kind: 'database',
    keeps: true,
    resident: true,
    runs: 'page',
    key: 'id',
    resolved: 'in memory',
    savedBy: 'saveDatabase()',
    usage: `incremental IndexedDB adapter, binary indexes, a unique index for the key, indexes rebuilt once for a list, no meta; reads return ${
      clone
        ? 'copies by the default cloneMethod; the recursive one turns strings in arrays into objects'
        : 'the stored objects'
    }`,
    async load() {
      const [{ default: Loki }, { default: Adapter }] = await Promise.all([
        import('lokijs'),
        import('lokijs/src/incremental-indexeddb-adapter.js'),
      ]);
      return {
        async open(name) {
          const database = new Loki(name, { adapter: new Adapter() });
          await called((done) => database.loadDatabase({}, done));
          const people =
            database.getCollection('people') ??
            database.addCollection('people', {
              unique: ['id'],
              indices: ['group', 'age', 'score'],
              disableMeta: true,
              clone,
            });
          const ofAge = (/** @type {number} */ from, /** @type {number} */ to) => ({
            age: { $between: [from, to - 1] },
          });
          const byIds = (/** @type {string[]} */ ids) => ids.map((id) => people.by('id', id));
          return {
            // The second argument, which its types lack, lets it sort its indexes once and not for
            // each document.
            insertMany: (documents) => /** @type {any} */ (people).insert(documents, true),
            insert: (document) => people.insert(document),
            get: (id) => people.by('id', id),
            getMany: byIds,
            findGroup: (group) => people.find({ group }),
            findAges: (from, to) => people.find(ofAge(from, to)),
            findZips: (from, to) =>
              people.where(
                (/** @type {any} */ { address }) => address.zip >= from && address.zip < to,
              ),
            firstByScore: (limit) => people.chain().simplesort('score').limit(limit).data(),
            countAges: (from, to) => people.count(ofAge(from, to)),
            setAges(ids, age) {
              const documents = byIds(ids);
              for (const document of documents) document.age = age;
              // a list rebuilds its indexes, which pays only for many
              if (ids.length < MANY) for (const document of documents) people.update(document);
              else people.update(documents);
            },
            deleteMany: (ids) => people.remove(byIds(ids)),
            all: () => people.find(),
            async watchGroup(group, changed) {
              const view = people.addDynamicView(`group ${group}`);
              view.applyFind({ group });
              const tell = () => changed(view.data());
              view.on('rebuild', tell);
              tell();
              return () => people.removeDynamicView(view.name);
            },
            saved: () => called((done) => database.saveDatabase(done)),
            close: () => called((done) => database.close(done)),
          };
        },
      };
    },
  });

export const loki = lokiThat(false);
export const lokiClone = lokiThat(true);
