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
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => sameContent(item, b[index]));
  return sameValue(a, b);
}
