import { create, insertMultiple, load, save, search } from '@orama/orama';
import { openKept } from './kept.mjs';

/** @type {import('../contender.mjs').Contender} */
export const orama = {
  name: 'orama',
  title: 'Orama, page',
  async open(database) {
    const kept = await openKept(database);
    const index = create({ schema: { n: 'number', text: 'string' } });
    const stored = await kept.read();
    if (stored) load(index, JSON.parse(stored));
    return {
      async insertMany(documents) {
        await insertMultiple(index, documents, 1000);
        await kept.write(JSON.stringify(save(index)));
      },
      async search(term, { prefix }) {
        const { hits } = await search(index, {
          term,
          properties: ['text'],
          limit: 20,
          threshold: 0,
          exact: !prefix,
        });
        return hits.map(({ document }) => /** @type {any} */ (document).n);
      },
      close: async () => kept.close(),
    };
  },
};
