import * as lib from '../../src/index.ts';
import { fakeWorker } from './fake-worker.ts';
import { runContract } from './run-contract.ts';

const hasWorkers = typeof Worker !== 'undefined';

runContract({
  title: hasWorkers ? 'connect()' : 'connect() where there are no workers',
  lib,
  engine: hasWorkers ? 'worker' : 'thread',
  storage: 'indexeddb',
  make: (name) => lib.connect({ name }),
});

// Node and happy-dom have no workers of the web; there the protocol is tested over a channel.
if (!hasWorkers) {
  runContract({
    title: 'connect() over a message channel',
    lib,
    engine: 'worker',
    storage: 'indexeddb',
    make: (name) => lib.connect({ name, worker: fakeWorker }),
  });
}
