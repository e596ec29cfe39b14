import * as lib from '../../src/index.ts';
import { fakeWorker } from './fake-worker.ts';
import { runContract } from './run-contract.ts';

const common = { lib, storage: 'indexeddb' } as const;

if (typeof Worker !== 'undefined') {
  runContract({
    ...common,
    title: 'connect()',
    engine: 'worker',
    make: (name) => lib.connect({ name }),
  });
} else if (typeof document === 'undefined') {
  // Node has no workers of the web; there the protocol is tested over a channel.
  runContract({
    ...common,
    title: 'connect() over a message channel',
    engine: 'worker',
    make: (name) => lib.connect({ name, worker: fakeWorker }),
  });
} else {
  // What the tests of an app meet in happy-dom.
  runContract({
    ...common,
    title: 'connect() where there are no workers',
    engine: 'thread',
    make: (name) => lib.connect({ name }),
  });
}
