import { connectWorker } from '../worker-calls.mjs';
import { definePeer } from '../peer.mjs';

export const sqlite = definePeer({
  name: 'sqlite',
  title: 'SQLite (wasm), OPFS, worker',
  packages: ['@sqlite.org/sqlite-wasm'],
  kind: 'database',
  keeps: true,
  runs: 'worker',
  key: 'id',
  resolved: 'flushed',
  usage:
    'opfs-sahpool, the fastest of its file systems, in a worker; columns for fields, JSON for what is nested; prepared statements, one transaction for many rows; write-ahead log with exclusive locking',
  async load() {
    return {
      async open(name) {
        const worker = new Worker(new URL('./sqlite-worker.mjs', import.meta.url), {
          type: 'module',
        });
        const call = connectWorker(worker);
        await call('open', name);
        return {
          insertMany: (documents) => call('insertMany', documents),
          insert: (document) => call('insertMany', [document]),
          get: (id) => call('get', id),
          getMany: (ids) => call('getMany', ids),
          findGroup: (group) => call('findGroup', group),
          findAges: (from, to) => call('findAges', from, to),
          findCity: (city) => call('findCity', city),
          firstByScore: (limit) => call('firstByScore', limit),
          countAges: (from, to) => call('countAges', from, to),
          setAges: (ids, age) => call('setAges', ids, age),
          deleteMany: (ids) => call('deleteMany', ids),
          all: () => call('all'),
          async close() {
            await call('close');
            worker.terminate();
          },
        };
      },
    };
  },
});
