import { loadCairn } from '../../../page/cairn-build.mjs';

/**
 * @param {string} name
 * @param {string} title
 * @param {{ client: 'worker' | 'thread', indexed: boolean, storage?: 'opfs', caching?: boolean }}
 *   setup
 * @returns {import('../contender.mjs').Contender}
 */
const cairn = (name, title, { client, indexed, storage, caching = false }) => ({
  name,
  title,
  async open(database) {
    const { connect, Database } = await loadCairn({ url: '/dist/index.js', parts: [] });
    const settings = { name: database, ...(storage && { storage }) };
    const db = client === 'thread' ? new Database(settings) : connect(settings);
    const articles = new db.Collection({
      name: 'articles',
      type: 'DOCUMENT_BASED',
      caching,
      indexes: ['n', ...(indexed ? [{ text: ['text'] }] : [])],
    });
    return {
      async insertMany(documents) {
        await articles.insertMany(documents);
        await articles.save();
      },
      async search(query, { prefix }) {
        const hits = await articles.search(query, { limit: 20, prefix });
        return hits.map((/** @type {any} */ { document }) => document.n);
      },
      isSilent: !indexed,
      first: () => articles.filter({ n: { $lt: 20 } }),
      close: () => db.close(),
    };
  },
});

export const cairnWorker = cairn('cairn', 'Cairn, worker', { client: 'worker', indexed: true });
export const cairnThread = cairn('cairn-thread', 'Cairn, thread', {
  client: 'thread',
  indexed: true,
});
/** Where FTS5 keeps its pages, too. */
export const cairnFiles = cairn('cairn-opfs', 'Cairn, worker, files', {
  ...{ client: 'worker', indexed: true },
  storage: 'opfs',
});
/** The default, with the documents in memory: about what FTS5 has as pages. */
export const cairnCached = cairn('cairn-cached', 'Cairn, worker, caching', {
  ...{ client: 'worker', indexed: true },
  caching: true,
});
/** What the index costs is the difference to this one. */
export const cairnPlain = cairn('cairn-plain', 'Cairn, worker, no text index', {
  client: 'worker',
  indexed: false,
});
