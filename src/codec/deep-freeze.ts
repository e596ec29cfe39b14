import { isPlainObject } from './kinds.ts';

/**
 * Freezes a stored value deeply: arrays, plain objects, and the entries of Maps and Sets. Maps,
 * Sets, Dates, views and ArrayBuffers stay mutable: `Object.freeze` does not freeze their content,
 * and throws for views.
 */
export function deepFreeze<T>(value: T): T {
  if (isContainer(value)) freeze(value);
  return value;
}

// Loops without closures: they take a third of the time of `forEach`.
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
