import { describe } from 'vitest';
import { contractSuite } from './all.suite.ts';
import { type ClientKind, useClient } from './client-fixture.ts';

/** Runs the contract with a kind of client, with caching and without. */
export function runContract(kind: ClientKind): void {
  for (const caching of [false, true]) {
    describe(`${kind.title}, caching: ${caching}`, () => {
      contractSuite(useClient(kind, caching));
    });
  }
}
