/**
 * Tests one candidate value. `value` is `undefined` for a missing field; `present` tells a stored
 * `undefined` from a missing field.
 */
export type ValueTest = (value: unknown, present: boolean) => boolean;

/**
 * The compiled criteria of one field, not bound to a path yet.
 *
 * - `each`: some candidate passes the test; the candidates of an array are its items and itself.
 * - `whole`: the same, but the only candidate of an array is itself (`$size`, `$elemMatch`).
 * - `all`, `not`: logic over conditions of the same field. A different candidate may pass each
 *   part: `[0, 9]` matches `{ $gt: 1, $lt: 5 }`, as in MongoDB.
 */
export type Condition =
  | {
      readonly kind: 'each' | 'whole';
      readonly test: ValueTest;
      readonly cost: number;
      /** Whether the test reads `present`, which takes time to compute. */
      readonly asksPresence?: true;
      /** The value that passes, if there is only one. */
      readonly literal?: string | boolean;
    }
  | { readonly kind: 'all'; readonly conditions: readonly Condition[] }
  | { readonly kind: 'not'; readonly condition: Condition };

/**
 * Cost of a test with a pattern or a loop, against 1 for a comparison; cheaper tests of a query run
 * first.
 */
export const EXPENSIVE = 20;

export function each(test: ValueTest, cost = 1): Condition {
  return { kind: 'each', test, cost };
}

/** As {@link each}, for a test that tells a stored `undefined` from a missing field. */
export function eachPresent(test: ValueTest): Condition {
  return { kind: 'each', test, cost: 1, asksPresence: true };
}

export function whole(test: ValueTest, cost = 1): Condition {
  return { kind: 'whole', test, cost };
}

export function all(conditions: readonly Condition[]): Condition {
  const [first] = conditions;
  return conditions.length === 1 && first ? first : { kind: 'all', conditions };
}

export function not(condition: Condition): Condition {
  return { kind: 'not', condition };
}

export function costOf(condition: Condition): number {
  switch (condition.kind) {
    case 'all':
      return condition.conditions.reduce((sum, part) => sum + costOf(part), 0);
    case 'not':
      return costOf(condition.condition);
    default:
      return condition.cost;
  }
}

export function asksPresence(condition: Condition): boolean {
  switch (condition.kind) {
    case 'all':
      return condition.conditions.some(asksPresence);
    case 'not':
      return asksPresence(condition.condition);
    default:
      return condition.asksPresence ?? false;
  }
}

/** The condition as a test of one candidate; an array is tested as a whole. */
export function singleTest(condition: Condition): ValueTest {
  switch (condition.kind) {
    case 'all':
      return everyTest(condition.conditions.map(singleTest));
    case 'not': {
      const test = singleTest(condition.condition);
      return (value, present) => !test(value, present);
    }
    default:
      return condition.test;
  }
}

function everyTest(tests: readonly ValueTest[]): ValueTest {
  const [first, second] = tests;
  if (!first) return () => true;
  if (!second) return first;
  if (tests.length === 2)
    return (value, present) => first(value, present) && second(value, present);
  return (value, present) => tests.every((test) => test(value, present));
}
