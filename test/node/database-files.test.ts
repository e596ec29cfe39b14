import { describe } from 'vitest';
import * as lib from '../../src/index.ts';
import { files } from '../../src/node/index.ts';
import { makeFolder } from '../../tools/browsers/child.mjs';
import { contractSuite } from '../contract/all.suite.ts';
import { type ClientKind, useClient } from '../contract/client-fixture.ts';

const storage = files(makeFolder('contract'));

const kind: ClientKind = {
  title: 'Database in files',
  lib,
  engine: 'thread',
  storage: 'files',
  make: (name) => new lib.Database({ name, storage }),
};

// Without caching every read reaches the files.
describe(`${kind.title}, caching: false`, () => contractSuite(useClient(kind, false)));
