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
 * Node runs both over IndexedDB: the engine is the same with other storage, in a worker and in browsers. Those run one, and each
 * browser the other one with a worker than without. `EFFORT=2` runs all.
 */
function cachingsOf({ engine, storage }: ClientKind): readonly boolean[] {
  const { userAgent = '' } = globalThis.navigator ?? {};
  const isNode = typeof document === 'undefined';
  const isWorker = engine === 'worker';
  if (inject('effort') > 1 || (isNode && storage === 'indexeddb' && !isWorker))
    return [false, true];
  if (isNode) return [isWorker];
  return [/Version\/\S+ Safari\//.test(userAgent) ? !isWorker : isWorker];
}
