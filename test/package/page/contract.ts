/**
 * The contract as a script: `runContract(caching, share)` runs it in a page with a global
 * `cairndb`.
 */
import { describe } from 'vitest';
import { contractSuite } from '../../contract/all.suite.ts';
import { type Library, useClient } from '../../contract/client-fixture.ts';
import { runSuites, type Share } from './run-suites.ts';

const page = globalThis as unknown as {
  cairndb: Library;
  runContract: (caching: boolean, share: Share) => Promise<unknown>;
};

page.runContract = (caching, share) =>
  runSuites(() => {
    const { cairndb: lib } = page;
    const kind = {
      title: 'connect() of the package',
      lib,
      engine: 'worker',
      storage: 'indexeddb',
      make: (name: string) => lib.connect({ name }),
    } as const;
    describe(kind.title, () => contractSuite(useClient(kind, caching)));
  }, share);
