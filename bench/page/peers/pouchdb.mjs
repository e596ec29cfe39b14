import { definePeer } from '../peer.mjs';

/** Above any number of documents here; without a limit `find` stops at 25. */
const ALL = 10_000_000;

export const pouchdb = definePeer({
  name: 'pouchdb',
  title: 'PouchDB',
  packages: ['pouchdb-browser', 'pouchdb-find'],
  kind: 'database',
  keeps: true,
  resident: false,
  runs: 'page',
  key: '_id',
  resolved: 'transaction complete',
  usage:
    'bulkDocs for many, allDocs by keys, Mango indexes, auto_compaction and one revision kept; indexes are brought up by the first query, not by the write; a live query is the changes feed and a query',
  async load() {
    const [{ default: PouchDB }, { default: find }] = await Promise.all([
      import('pouchdb-browser'),
      import('pouchdb-find'),
    ]);
    PouchDB.plugin(find);
    return {
      async open(name) {
        const people = new PouchDB(name, { auto_compaction: true, revs_limit: 1 });
        for (const field of ['group', 'age', 'score']) {
          await people.createIndex({ index: { fields: [field] }, ddoc: `by-${field}` });
        }
        const find = async (/** @type {object} */ query) =>
          (await people.find({ limit: ALL, ...query })).docs;
        const inGroup = (/** @type {number} */ group) => find({ selector: { group } });
        const ofAge = (/** @type {number} */ from, /** @type {number} */ to) => ({
          age: { $gte: from, $lt: to },
        });
        /** @param {any[]} results */
        function throwRefused(results) {
          const refused = results.find(({ error }) => error);
          if (refused) throw new Error(`PouchDB refused a document: ${refused.message}`);
        }
        return {
          insertMany: async (documents) => throwRefused(await people.bulkDocs(documents)),
          insert: (document) => people.put(document),
          get: (id) => people.get(id),
          async getMany(ids) {
            const { rows } = await people.allDocs({ keys: ids, include_docs: true });
            return rows.map((/** @type {any} */ { doc }) => doc);
          },
          findGroup: inGroup,
          findAges: (from, to) => find({ selector: ofAge(from, to) }),
          findZips: (from, to) => find({ selector: { 'address.zip': { $gte: from, $lt: to } } }),
          firstByScore: (limit) =>
            find({ selector: { score: { $gte: 0 } }, sort: ['score'], limit }),
          async countAges(from, to) {
            return (await find({ selector: ofAge(from, to), fields: ['_id'] })).length;
          },
          async setAges(ids, age) {
            const { rows } = await people.allDocs({ keys: ids, include_docs: true });
            const changed = rows.map((/** @type {any} */ { doc }) => ({ ...doc, age }));
            throwRefused(await people.bulkDocs(changed));
          },
          async deleteMany(ids) {
            const { rows } = await people.allDocs({ keys: ids });
            const deleted = rows.map((/** @type {any} */ { id, value }) => ({
              _id: id,
              _rev: value.rev,
              _deleted: true,
            }));
            throwRefused(await people.bulkDocs(deleted));
          },
          async all() {
            const { rows } = await people.allDocs({ include_docs: true });
            return rows
              .filter((/** @type {any} */ { id }) => !id.startsWith('_design/'))
              .map((/** @type {any} */ { doc }) => doc);
          },
          async watchGroup(group, changed) {
            const feed = people.changes({ since: 'now', live: true });
            feed.on('change', async () => changed(await inGroup(group)));
            changed(await inGroup(group));
            return () => feed.cancel();
          },
          close: () => people.close(),
        };
      },
    };
  },
});
