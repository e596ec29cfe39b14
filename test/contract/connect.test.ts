import { describe, inject } from 'vitest';
import * as lib from '../../src/index.ts';
import { contractSuite, globalsSuite } from './all.suite.ts';
import { type ClientKind, useClient } from './client-fixture.ts';
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
  // Node has no Web Workers; a MessageChannel stands in for one.
  runContract({
    ...common,
    title: 'connect() over a message channel',
    engine: 'worker',
    make: (name) => lib.connect({ name, worker: fakeWorker }),
  });
} else {
  // The situation of an app tested in happy-dom: the engine of Database in Node, with other globals.
  const kind: ClientKind = {
    ...common,
    title: 'connect() where there are no workers',
    engine: 'thread',
    make: (name) => lib.connect({ name }),
  };
  const suite = inject('effort') > 1 ? contractSuite : globalsSuite;
  describe(`${kind.title}, caching: true`, () => suite(useClient(kind, true)));
}
