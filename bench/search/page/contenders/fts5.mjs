import { connectWorker } from '../../../page/worker-calls.mjs';

/** @type {import('../contender.mjs').Contender} */
export const fts5 = {
  name: 'fts5',
  title: 'SQLite FTS5 (wasm), OPFS, worker',
  async open(database) {
    const worker = new Worker(new URL('./fts5-worker.mjs', import.meta.url), { type: 'module' });
    const call = connectWorker(worker);
    await call('open', database);
    return {
      insertMany: (documents) => call('insertMany', documents),
      async search(query, { prefix }) {
        const words = query.split(' ').map((word) => `"${word}"`);
        const found = await call('search', words.join(' ') + (prefix ? '*' : ''));
        return found.map((/** @type {any} */ { n }) => n);
      },
      async close() {
        await call('close');
        worker.terminate();
      },
    };
  },
};
