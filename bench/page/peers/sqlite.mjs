import { definePeer } from '../peer.mjs';
import { connectWorker } from '../worker-calls.mjs';

export const sqlite = definePeer({
  name: 'sqlite',
  title: 'SQLite (wasm), OPFS, worker',
  packages: ['@sqlite.org/sqlite-wasm'],
  kind: 'database',
  keeps: true,
  resident: false,
  runs: 'worker',
  key: 'id',
  resolved: 'written',
  usage:
    'opfs-sahpool, the fastest of its file systems, in a worker; columns for fields, JSON for nested values; prepared statements, one transaction for many rows; calls batched per microtask, a write-ahead log with exclusive locking and synchronous = normal, which is as durable as relaxed IndexedDB',
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
          findZips: (from, to) => call('findZips', from, to),
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
