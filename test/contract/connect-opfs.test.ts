import { describe } from 'vitest';
import * as lib from '../../src/index.ts';
import { contractSuite } from './all.suite.ts';
import { useClient } from './client-fixture.ts';

describe("connect(), storage: 'opfs', caching: false", () => {
  contractSuite(
    useClient(
      {
        title: 'connect() over files',
        lib,
        engine: 'worker',
        storage: 'opfs',
        make: (name) => lib.connect({ name, storage: 'opfs' }),
      },
      false,
    ),
  );
});
