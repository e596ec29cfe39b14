import * as lib from '../../src/cairndb.ts';
import type { ClientKind } from './client-fixture.ts';
import { fakeWorker } from './fake-worker.ts';
import { runContract } from './run-contract.ts';

const common = { lib, storage: 'indexeddb' } as const;

/**
 * The engine in a worker of the browser. Node has the whole contract; each time, browsers have what
 * depends on them.
 */
const inBrowser: ClientKind = {
  ...common,
  title: 'connect()',
  engine: 'worker',
  make: (name) => lib.connect({ name }),
};

/** Node has no Web Workers; a MessageChannel stands in for one. */
const overChannel: ClientKind = {
  ...common,
  title: 'connect() over a message channel',
  engine: 'worker',
  make: (name) => lib.connect({ name, worker: fakeWorker }),
};

/**
 * The situation of an app tested in happy-dom: the engine of Database in Node, with other globals.
 */
const withoutWorkers: ClientKind = {
  ...common,
  title: 'connect() where there are no workers',
  engine: 'thread',
  make: (name) => lib.connect({ name }),
};

if (typeof Worker !== 'undefined')
  runContract(inBrowser, { caching: true, parts: ['copies', 'storage', 'joins'] });
else if (typeof document === 'undefined') runContract(overChannel, { caching: false });
else runContract(withoutWorkers, { caching: true, parts: ['copies', 'globals'] });
