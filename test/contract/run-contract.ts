import { describe, inject } from 'vitest';
import { contractSuite } from './all.suite.ts';
import { type ClientKind, useClient } from './client-fixture.ts';

/** Runs the contract with a kind of client, with caching and without. */
export function runContract(kind: ClientKind): void {
  for (const caching of cachingsOf(kind)) {
    describe(`${kind.title}, caching: ${caching}`, () => {
      contractSuite(useClient(kind, caching));
    });
  }
}

/**
 * Node runs both over IndexedDB, and one elsewhere, as the engine is the same: in memory without a cache. Browsers run one,
 * WebKit without a cache. `EFFORT=2` runs all.
 */
function cachingsOf({ engine, storage }: ClientKind): readonly boolean[] {
  const { userAgent = '' } = globalThis.navigator ?? {};
  const isNode = typeof document === 'undefined';
  const isBoth = isNode && engine === 'thread' && storage === 'indexeddb';
  if (isBoth || inject('effort') > 1) return [false, true];
  return [isNode ? engine === 'worker' : !/Version\/\S+ Safari\//.test(userAgent)];
}
