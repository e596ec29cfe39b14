import { encrypted } from '../../src/encryption/index.ts';
import * as lib from '../../src/index.ts';
import { runContract } from './run-contract.ts';

// Not a password: to derive its key takes a tenth of a second for each client.
const storage = encrypted(lib.memoryDriver(), { key: new Uint8Array(32).fill(1) });

runContract(
  {
    title: 'Database in encrypted memory',
    lib,
    engine: 'thread',
    storage: 'memory',
    make: (name) => new lib.Database({ name, storage }),
  },
  { caching: false, parts: ['copies', 'storage'] },
);
