import { describe } from 'vitest';
import { encrypted } from '../../src/encryption/index.ts';
import * as lib from '../../src/index.ts';
import { contractSuite } from './all.suite.ts';
import { useClient } from './client-fixture.ts';

// Not a password: to derive its key takes a tenth of a second for each client.
const storage = encrypted(lib.memoryDriver(), { key: new Uint8Array(32).fill(1) });

// Without a cache, so that more is read.
describe('Database in encrypted memory, caching: false', () => {
  contractSuite(
    useClient(
      {
        title: 'Database in encrypted memory',
        lib,
        engine: 'thread',
        storage: 'memory',
        make: (name) => new lib.Database({ name, storage }),
      },
      false,
    ),
  );
});
