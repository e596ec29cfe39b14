import { ValueError } from '../errors/value-error.ts';
import { eachItem } from './items.ts';
import { isPlainObject, tagOf } from './kinds.ts';

/**
 * Deepest nesting a value may have. Structured clone and `JSON.parse` recurse on the native stack, which
 * is smallest in workers; browsers fail somewhere between 5,000 and 20,000 levels, with a RangeError
 * that names nothing.
 */
export const MAX_DEPTH = 500;

/** The way from the root to the value being looked at, kept to find cycles and to name places. */
interface Trail {
  readonly root: string;
  readonly keys: (string | number)[];
  readonly parents: object[];
}

/**
 * Checks that a value can be stored, and finds out whether JSON keeps every part of it exactly.
 *
 * @param root What errors call the value itself, such as `document`.
 * @returns `true` when `JSON.parse(JSON.stringify(value))` gives the value back exactly, `false` when it
 *   holds something only a structured clone keeps (Date, Map, bigint, `undefined`, NaN, -0 …).
 * @throws {ValueError} for what neither keeps: functions, symbols, class instances, cycles, `__proto__`.
 */
export function inspect(value: unknown, root: string): boolean {
  return look(value, { root, keys: [], parents: [] }, 0);
}

function look(value: unknown, trail: Trail, depth: number): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true;
    case 'number':
      return Number.isFinite(value) && (value !== 0 || 1 / value > 0);
    case 'undefined':
    case 'bigint':
      return false;
    case 'object':
      return value === null || lookInside(value, trail, depth);
    default:
      throw unsupported(trail, depth, `a ${typeof value}`);
  }
}

function lookInside(value: object, trail: Trail, depth: number): boolean {
  if (depth >= MAX_DEPTH) {
    const place = placeOf(trail, depth);
    throw new ValueError('value_too_deep', `${place} is nested over ${MAX_DEPTH} levels deep.`, {
      place,
    });
  }
  for (let above = 0; above < depth; above++) {
    if (trail.parents[above] === value) {
      const place = placeOf(trail, depth);
      throw new ValueError('value_cyclic', `${place} contains itself; store an id instead.`, {
        place,
      });
    }
  }
  trail.parents[depth] = value;
  if (Array.isArray(value)) return lookAtArray(value, trail, depth);
  if (isPlainObject(value)) return lookAtObject(value as Record<string, unknown>, trail, depth);
  lookAtBuiltIn(value, trail, depth);
  return false;
}

function lookAtArray(value: readonly unknown[], trail: Trail, depth: number): boolean {
  let json = true;
  let items = 0;
  eachItem(value, (item, index) => {
    items++;
    trail.keys[depth] = index;
    if (!look(item, trail, depth + 1)) json = false;
  });
  // JSON turns a hole into null.
  return json && items === value.length;
}

function lookAtObject(value: Record<string, unknown>, trail: Trail, depth: number): boolean {
  let json = true;
  for (const key of Object.keys(value)) {
    trail.keys[depth] = key;
    if (key === '__proto__') {
      const place = placeOf(trail, depth + 1);
      throw new ValueError('key_forbidden', `${place}: the key "__proto__" cannot be stored.`, {
        place,
      });
    }
    if (!look(value[key], trail, depth + 1)) json = false;
  }
  const symbols = Object.getOwnPropertySymbols(value);
  if (symbols.length > 0) {
    for (const symbol of symbols) {
      if (!Object.prototype.propertyIsEnumerable.call(value, symbol)) continue;
      throw unsupported(trail, depth, `a property with the symbol key ${String(symbol)}`);
    }
  }
  return json;
}

function lookAtBuiltIn(value: object, trail: Trail, depth: number): void {
  switch (tagOf(value)) {
    case 'Map': {
      for (const [key, item] of value as Map<unknown, unknown>) {
        trail.keys[depth] = typeof key === 'object' ? '<key>' : String(key);
        look(key, trail, depth + 1);
        look(item, trail, depth + 1);
      }
      return;
    }
    case 'Set': {
      let index = 0;
      for (const item of value as Set<unknown>) {
        trail.keys[depth] = index++;
        look(item, trail, depth + 1);
      }
      return;
    }
    case 'Date':
    case 'RegExp':
    case 'Blob':
    case 'File':
      return;
    case 'ArrayBuffer':
    case 'View':
      if (isDetached(value)) throw unsupported(trail, depth, 'a detached ArrayBuffer');
      return;
    default: {
      const name = (value as { constructor?: { name?: unknown } }).constructor?.name;
      throw unsupported(
        trail,
        depth,
        `an instance of ${typeof name === 'string' && name ? name : 'a class'}`,
      );
    }
  }
}

function isDetached(value: object): boolean {
  const buffer = ArrayBuffer.isView(value) ? value.buffer : (value as ArrayBuffer);
  if (buffer.byteLength > 0) return false;
  try {
    new Uint8Array(buffer);
    return false;
  } catch (error) {
    if (error instanceof TypeError) return true;
    throw error;
  }
}

function unsupported(trail: Trail, depth: number, what: string): ValueError {
  const place = placeOf(trail, depth);
  return new ValueError(
    'value_unsupported',
    `${place} is ${what}, which cannot be stored. Allowed are strings, numbers, bigints, booleans, null, ` +
      'undefined, Date, RegExp, Map, Set, ArrayBuffer and its views, Blob, arrays and plain objects.',
    { place },
  );
}

function placeOf(trail: Trail, depth: number): string {
  let place = trail.root;
  for (const key of trail.keys.slice(0, depth))
    place += typeof key === 'number' ? `[${key}]` : `.${key}`;
  return place;
}
