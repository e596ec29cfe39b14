import { isPlainObject } from '../../codec/kinds.ts';

/** Whether copied criteria may contain a pattern. */
export function holdsPattern(criteria: unknown): boolean {
  if (Array.isArray(criteria)) return criteria.some(holdsPattern);
  if (!isPlainObject(criteria)) return criteria instanceof RegExp;
  return Object.keys(criteria).some((key) => key === '$regex' || holdsPattern(criteria[key]));
}
