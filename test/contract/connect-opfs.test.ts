import * as lib from '../../src/cairndb.ts';
import { runContract } from './run-contract.ts';

runContract(
  {
    title: "connect(), storage: 'opfs'",
    lib,
    engine: 'worker',
    storage: 'opfs',
    make: (name) => lib.connect({ name, storage: 'opfs' }),
  },
  { caching: false, parts: ['storage'] },
);
