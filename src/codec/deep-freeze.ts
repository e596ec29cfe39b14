import { isPlainObject } from './kinds.ts';

/**
 * Freezes a stored value with the arrays, plain objects, Maps' and Sets' entries in it. A Map, Set, Date, view or
 * ArrayBuffer itself stays changeable: `Object.freeze` does not reach what it holds, and throws for views.
 */
export function deepFreeze<T>(value: T): T {
  if (isContainer(value)) freeze(value);
  return value;
}

// Loops without closures and calls: they take a third of the time of `forEach`.
function freeze(value: object): void {
  if (Array.isArray(value)) {
    for (const item of value) if (isContainer(item)) freeze(item);
  } else if (isPlainObject(value)) {
    for (const key in value) {
      const field = value[key];
      if (isContainer(field)) freeze(field);
    }
  } else {
    if (value instanceof Map) for (const entry of value) entry.forEach(deepFreeze);
    else if (value instanceof Set) value.forEach(deepFreeze);
    return;
  }
  Object.freeze(value);
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
