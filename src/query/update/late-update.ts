import type { Body } from '../../codec/body.ts';

/**
 * An update operator on one path. Applied to what others have made of a document, it changes that,
 * and replaces nothing.
 */
export type Operation = readonly [operator: string, path: string, operand: unknown];

/** Whether one path is the other, or inside it. */
export function overlap(a: string, b: string): boolean {
  return `${a}.`.startsWith(`${b}.`) || `${b}.`.startsWith(`${a}.`);
}

/** States of a document on which operations have been applied. */
export interface Rebased<State> {
  /** Those that hold: they lead from the first state to the second, and fit the third. */
  readonly operations: readonly Operation[];
  /** The first state, with their results. */
  readonly base: State;
  /** The state of others, with them applied. */
  readonly remote: State;
}

/**
 * Applies operations to what others have made of a document: `rebase` in rebase.ts, which is code
 * of the part of update operators.
 *
 * @returns `undefined` where nothing of them is left.
 */
type Rebase = (
  operations: readonly Operation[],
  from: Body,
  to: Body,
  onto: Body,
) => Rebased<Body> | undefined;

let rebase: Rebase | undefined;

/** To be called by the part that has the operators, once it has loaded. */
export function provideRebase(code: Rebase): void {
  rebase = code;
}

/** As `rebase` in rebase.ts; `undefined` until its part has loaded. */
export function loadedRebase(): Rebase | undefined {
  return rebase;
}
