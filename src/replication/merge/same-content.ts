import { isPlainObject } from '../../codec/kinds.ts';
import { sameValue } from '../../codec/same-value.ts';

/** Whether two values are deeply equal. The order of keys does not matter: servers do not keep it. */
export function sameContent(a: unknown, b: unknown): boolean {
  if (isPlainObject(a) && isPlainObject(b)) {
    const left = a as Record<string, unknown>;
    const right = b as Record<string, unknown>;
    const keys = Object.keys(left);
    return (
      keys.length === Object.keys(right).length &&
      keys.every((key) => Object.hasOwn(right, key) && sameContent(left[key], right[key]))
    );
  }
  if (Array.isArray(a) && Array.isArray(b)) {
    // Holes have no key: an array of another device may be as long as any, and empty.
    const keys = Object.keys(a) as unknown as number[];
    return (
      a.length === b.length &&
      keys.length === Object.keys(b).length &&
      keys.every((key) => Object.hasOwn(b, key) && sameContent(a[key], b[key]))
    );
  }
  return sameValue(a, b);
}
