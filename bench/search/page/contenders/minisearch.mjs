import MiniSearch from 'minisearch';
import { openKept } from './kept.mjs';

const OPTIONS = { fields: ['text'], idField: 'n' };

/** @type {import('../contender.mjs').Contender} */
export const miniSearch = {
  name: 'minisearch',
  title: 'MiniSearch, page',
  async open(database) {
    const kept = await openKept(database);
    const json = await kept.read();
    const index = json ? MiniSearch.loadJSON(json, OPTIONS) : new MiniSearch(OPTIONS);
    return {
      async insertMany(documents) {
        index.addAll(documents);
        await kept.write(JSON.stringify(index));
      },
      async search(query, { prefix }) {
        const found = index.search(query, {
          combineWith: 'AND',
          prefix: prefix && ((_term, at, terms) => at === terms.length - 1),
        });
        return found.slice(0, 20).map(({ id }) => id);
      },
      close: async () => kept.close(),
    };
  },
};
