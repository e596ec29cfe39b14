import type { Operation } from './operations.ts';
import type { Rebased } from './rebase.ts';

type Rebase = (
  operations: readonly Operation[],
  states: readonly [from: () => object, to: object, onto: () => object],
) => Rebased;

let rebase: Rebase | undefined;

/** To be called by the part that has the operators, once it has loaded. */
export function provideRebase(code: Rebase): void {
  rebase = code;
}

/** As `rebase` in rebase.ts; `undefined` until its part has loaded. */
export function loadedRebase(): Rebase | undefined {
  return rebase;
}
