import { isPlainObject } from '../../codec/kinds.ts';

/** Literal characters behind `^`: without alternatives and quantifiers, nothing backtracks. */
const LITERAL_PREFIX = /^\^(?:[^\\^$.*+?()[\]{}|]|\\[^\w\s])*$/;

/** Whether copied criteria may contain a pattern that hangs. A literal prefix such as `/^abc/` cannot. */
export function holdsPattern(criteria: unknown): boolean {
  if (Array.isArray(criteria)) return criteria.some(holdsPattern);
  if (criteria instanceof RegExp) return !LITERAL_PREFIX.test(criteria.source);
  if (!isPlainObject(criteria)) return false;
  return Object.entries(criteria).some(([key, value]) =>
    key === '$regex' && typeof value === 'string'
      ? !LITERAL_PREFIX.test(value)
      : holdsPattern(value),
  );
}
