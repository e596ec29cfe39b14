import * as lib from '../../src/index.ts';
import { fakeWorker } from './fake-worker.ts';
import { runContract } from './run-contract.ts';

const door = { lib, storage: 'indexeddb' } as const;

if (typeof Worker !== 'undefined') {
  const { userAgent, vendor } = navigator;
  // A worker is started for each of 400 tests, which takes two minutes. The engine is the same in all of them:
  // Chromium does both cachings, the others one each.
  const cachings = userAgent.includes('Firefox')
    ? [true]
    : vendor.startsWith('Apple')
      ? [false]
      : undefined;
  runContract(
    { ...door, title: 'connect()', engine: 'worker', make: (name) => lib.connect({ name }) },
    cachings,
  );
} else if (typeof document === 'undefined') {
  // Node has no workers of the web; there the protocol is tested over a channel.
  runContract({
    ...door,
    title: 'connect() over a message channel',
    engine: 'worker',
    make: (name) => lib.connect({ name, worker: fakeWorker }),
  });
} else {
  // What the tests of an app meet in happy-dom.
  runContract({
    ...door,
    title: 'connect() where there are no workers',
    engine: 'thread',
    make: (name) => lib.connect({ name }),
  });
}
