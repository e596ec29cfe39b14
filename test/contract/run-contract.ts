import { describe, inject } from 'vitest';
import { cachings } from '../setup/cachings.ts';
import { type ContractPart, contractSuite } from './all.suite.ts';
import { type ClientKind, useClient } from './client-fixture.ts';

/**
 * How a client is tested each time. The engine is the same: once in Node, and in one browser, it
 * has the whole contract.
 */
export interface EachTime {
  readonly caching: boolean;
  /** By default all. */
  readonly parts?: readonly ContractPart[] | undefined;
}

/**
 * Runs the contract with a kind of client: as given, or with `EFFORT=2` the whole, with caching and
 * without.
 */
export function runContract(kind: ClientKind, eachTime: EachTime): void {
  const isThorough = inject('effort') > 1;
  for (const caching of cachings(eachTime.caching))
    describe(`${kind.title}, caching: ${caching}`, () => {
      contractSuite(useClient(kind, caching), isThorough ? undefined : eachTime.parts);
    });
}
