import { describe } from 'vitest';
import { contractSuite } from './all.suite.ts';
import { type DoorKind, useDoor } from './door-fixture.ts';

/** Runs the contract with a kind of door, with caching and without. */
export function runContract(kind: DoorKind): void {
  for (const caching of [false, true]) {
    describe(`${kind.title}, caching: ${caching}`, () => {
      contractSuite(useDoor(kind, caching));
    });
  }
}
