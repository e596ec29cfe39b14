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
  // In browsers, connect() has the same engine and driver.
  { caching: false, parts: typeof document === 'undefined' ? undefined : ['globals'] },
);
