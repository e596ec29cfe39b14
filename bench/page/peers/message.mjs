import { definePeer } from '../peer.mjs';
import { connectWorker } from '../worker-calls.mjs';

export const message = definePeer({
  name: 'message',
  title: 'postMessage, in memory',
  packages: [],
  kind: 'limit',
  keeps: false,
  resident: true,
  runs: 'worker',
  key: 'id',
  resolved: 'in memory',
  usage:
    'the loops by hand in a worker, one message there and one back for the calls of one microtask; stores nothing, checks nothing',
  async load() {
    return {
      async open() {
        const worker = new Worker(new URL('./message-worker.mjs', import.meta.url), {
          type: 'module',
        });
        const call = connectWorker(worker);
        return {
          insertMany: (documents) => call('insertMany', documents),
          insert: (document) => call('insert', document),
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
          close: () => worker.terminate(),
        };
      },
    };
  },
});
