/**
 * What one candidate must fulfil. `value` is `undefined` for a missing field; `present` tells a stored
 * `undefined` from a missing field for the operators that care.
 */
export type ValueTest = (value: unknown, present: boolean) => boolean;

/**
 * What the criteria of one field ask for, before it is bound to a path.
 *
 * - `each`: some candidate fulfils the test; an array offers its items and then itself.
 * - `whole`: as `each`, but an array offers only itself (`$size`, `$elemMatch`).
 * - `all`, `not`: logic over conditions of the same field. Each part looks for a candidate of its own:
 *   `{ $gt: 1, $lt: 5 }` matches `[0, 9]`, as in MongoDB.
 */
export type Condition =
  | {
      readonly kind: 'each' | 'whole';
      readonly test: ValueTest;
      readonly cost: number;
      /** Whether the test looks at `present`, which takes time to find out. */
      readonly asksPresence?: true;
      /** The one value that passes, where there is just one. */
      readonly literal?: string | boolean;
    }
  | { readonly kind: 'all'; readonly conditions: readonly Condition[] }
  | { readonly kind: 'not'; readonly condition: Condition };

/** Cost of a test that may run a pattern or a loop, against 1 for a comparison; orders tests in a query. */
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

/** The condition as a test of one candidate that is not to be taken apart. */
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
