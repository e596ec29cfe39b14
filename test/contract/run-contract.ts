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
 * The engine is the same everywhere, so Node runs both, Chromium both with a worker. Other combinations run one, and none
 * of these two the same: they differ in storage, workers and the globals of a page.
 */
function cachingsOf({ engine }: ClientKind): readonly boolean[] {
  const { userAgent = '' } = globalThis.navigator ?? {};
  const isWorker = engine === 'worker';
  if (typeof document === 'undefined') return [false, true];
  if (userAgent.includes('HappyDOM')) return [true];
  if (userAgent.includes('Firefox/')) return [isWorker];
  if (/Version\/\S+ Safari\//.test(userAgent)) return [!isWorker];
  return isWorker ? [false, true] : [false];
}
