import * as lib from '../../src/index.ts';
import { runContract } from './run-contract.ts';

// One driver for all clients: the next client finds saved data, as after a reload.
const storage = lib.memoryDriver();

runContract(
  {
    title: 'Database in memory',
    lib,
    engine: 'thread',
    storage: 'memory',
    make: (name) => new lib.Database({ name, storage }),
  },
  { caching: true },
);
