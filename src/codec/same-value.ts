import type { Body } from './body.ts';
import { isPlainObject, rawBytes, tagOf } from './kinds.ts';

/**
 * Whether two stored values are deeply equal, the order of keys included. Two Blobs are equal only
 * if they are one object: their content cannot be read synchronously.
 */
export function sameValue(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || isPlainObject(a)) {
    // Holes have no key.
    const keys = Object.keys(a);
    const others = Object.keys(b);
    return (
      Array.isArray(a) === Array.isArray(b) &&
      isPlainObject(a) === isPlainObject(b) &&
      (!Array.isArray(a) || a.length === (b as unknown[]).length) &&
      keys.length === others.length &&
      keys.every((key, index) => key === others[index] && sameValue(read(a, key), read(b, key)))
    );
  }
  const tag = tagOf(a);
  if (Array.isArray(b) || isPlainObject(b) || tag !== tagOf(b)) return false;
  switch (tag) {
    case 'Date':
      return Object.is((a as Date).getTime(), (b as Date).getTime());
    case 'RegExp':
      return String(a) === String(b);
    case 'Map':
    case 'Set':
      return sameValue([...(a as Set<unknown>)], [...(b as Set<unknown>)]);
    case 'ArrayBuffer':
    case 'View':
      return (
        a.constructor === b.constructor &&
        sameBytes(rawBytes(a as ArrayBuffer), rawBytes(b as ArrayBuffer))
      );
    default:
      return false;
  }
}

/** Whether two bodies hold equal values: those that JSON preserves are equal texts. */
export function sameBody(a: Body | undefined, b: Body | undefined): boolean {
  if (typeof a !== 'object' || typeof b !== 'object') return a === b && a !== undefined;
  return sameValue(a.exact, b.exact);
}

function read(container: object, key: string): unknown {
  return (container as Record<string, unknown>)[key];
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
