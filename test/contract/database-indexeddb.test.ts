import * as lib from '../../src/index.ts';
import { runContract } from './run-contract.ts';

runContract(
  {
    title: 'Database in IndexedDB',
    lib,
    engine: 'thread',
    storage: 'indexeddb',
    make: (name) => new lib.Database({ name, storage: 'indexeddb' }),
  },
  // connect() has the same engine and driver. In Node, the driver is over another IndexedDB.
  { caching: false, parts: [typeof document === 'undefined' ? 'storage' : 'copies'] },
);
