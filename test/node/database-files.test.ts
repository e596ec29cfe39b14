import * as lib from '../../src/index.ts';
import { files } from '../../src/node/index.ts';
import { makeFolder } from '../../tools/browsers/child.mjs';
import { runContract } from '../contract/run-contract.ts';

const storage = files(makeFolder('contract'));

runContract(
  {
    title: 'Database in files',
    lib,
    engine: 'thread',
    storage: 'files',
    make: (name) => new lib.Database({ name, storage }),
  },
  // Without caching every read reaches the files.
  { caching: false, parts: ['storage'] },
);
