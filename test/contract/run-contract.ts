import { describe } from 'vitest';
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
 * Node, happy-dom and Chromium run both. The engine is the same everywhere, so Firefox and WebKit, which differ in storage
 * and workers, run one with each kind of client, and not the same.
 */
function cachingsOf({ engine }: ClientKind): readonly boolean[] {
  const { userAgent = '' } = globalThis.navigator ?? {};
  const isWorker = engine === 'worker';
  if (userAgent.includes('Firefox/')) return [isWorker];
  if (/Version\/\S+ Safari\//.test(userAgent)) return [!isWorker];
  return [false, true];
}
