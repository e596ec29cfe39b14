import { loadCairn } from '../../../page/cairn-build.mjs';
import { wait } from '../../../page/measure.mjs';
import { DIMENSIONS } from '../vectors.mjs';

/** Documents of one call: the page makes them meanwhile. */
const PART = 5000;

/** @type {import('../vector-contender.mjs').Contender} */
export const cairnVectors = {
  name: 'cairn',
  title: 'Cairn, worker',
  async open(database) {
    const { connect } = await loadCairn({ url: '/dist/index.js', parts: [] });
    const db = connect({ name: database });
    const rows = new db.Collection({
      name: 'rows',
      type: 'DOCUMENT_BASED',
      caching: false,
      indexes: ['tenth', { vector: 'embedding', dimensions: DIMENSIONS, metric: 'cosine' }],
    });
    const idsOf = (/** @type {any[]} */ hits) => hits.map(({ document }) => document.n);
    const select = { n: 1 };
    return {
      async insertAll(count, make) {
        for (let from = 0; from < count; from += PART) {
          const length = Math.min(PART, count - from);
          await rows.insertMany(
            Array.from({ length }, (_, at) => ({
              n: from + at,
              tenth: (from + at) % 10,
              embedding: make(),
            })),
          );
        }
        await rows.save();
      },
      nearest: async (query, k) => idsOf(await rows.nearest(query, { k, select, exact: true })),
      ofTenth: async (query, k) =>
        idsOf(await rows.nearest(query, { k, select, criteria: { tenth: 3 }, exact: true })),
      async train(query) {
        for (;;) {
          const { approximate } = await rows.explainNearest(query, { exact: false });
          if (approximate) return approximate.recall;
          await wait(20);
        }
      },
      inCells: async (query, k) => idsOf(await rows.nearest(query, { k, select, exact: false })),
      inEngine: async (query, exact) => (await rows.explainNearest(query, { exact })).engine_ms,
      close: () => db.close(),
    };
  },
};
