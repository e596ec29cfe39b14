import { describe } from 'vitest';
import { contractSuite } from './all.suite.ts';
import { type DoorKind, useDoor } from './door-fixture.ts';

/** Runs the contract with a kind of door, with caching and without unless it is said otherwise. */
export function runContract(kind: DoorKind, cachings: readonly boolean[] = [false, true]): void {
  for (const caching of cachings) {
    describe(`${kind.title}, caching: ${caching}`, () => {
      contractSuite(useDoor(kind, caching));
    });
  }
}
