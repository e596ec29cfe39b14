import { describe, inject } from 'vitest';
import * as lib from '../../src/index.ts';
import { globalsSuite } from './all.suite.ts';
import { type ClientKind, useClient } from './client-fixture.ts';
import { runContract } from './run-contract.ts';

const kind: ClientKind = {
  title: 'Database in IndexedDB',
  lib,
  engine: 'thread',
  storage: 'indexeddb',
  make: (name) => new lib.Database({ name, storage: 'indexeddb' }),
};

// In browsers, connect() has the whole contract, with the same engine and driver.
if (typeof document === 'undefined' || inject('effort') > 1) runContract(kind);
else describe(`${kind.title}, caching: false`, () => globalsSuite(useClient(kind, false)));
