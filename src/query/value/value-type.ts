import { isPlainObject, tagOf } from '../../codec/kinds.ts';
import * as bracket from './bracket.ts';

export type Bracket = (typeof bracket)[keyof typeof bracket];

/** The bracket of a value; `undefined` stands for a missing field. */
export function bracketOf(value: unknown): Bracket {
  switch (typeof value) {
    case 'undefined':
      return bracket.missing;
    case 'number':
    case 'bigint':
      return bracket.numeric;
    case 'string':
      return bracket.string;
    case 'boolean':
      return bracket.boolean;
    case 'object':
      return value === null ? bracket.null : bracketOfObject(value);
    default:
      return bracket.other;
  }
}

function bracketOfObject(value: object): Bracket {
  if (Array.isArray(value)) return bracket.array;
  if (isPlainObject(value)) return bracket.object;
  // Ten times faster than the tag, which recognizes dates of other realms.
  if (value instanceof Date) return bracket.date;
  switch (tagOf(value)) {
    case 'Date':
      return bracket.date;
    case 'RegExp':
      return bracket.regexp;
    case 'Map':
      return bracket.map;
    case 'Set':
      return bracket.set;
    case 'ArrayBuffer':
    case 'View':
      return bracket.binary;
    case 'Blob':
    case 'File':
      return bracket.blob;
    default:
      return bracket.other;
  }
}

/** Whether a value is a plain object, not an array or a built-in such as Date. */
export function isFields(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && isPlainObject(value)
  );
}

/** Whether a value is a Date, of any realm. */
export function isDate(value: unknown): value is Date {
  return typeof value === 'object' && value !== null && bracketOf(value) === bracket.date;
}

/** Whether a value is a RegExp, of any realm. */
export function isRegExp(value: unknown): value is RegExp {
  return typeof value === 'object' && value !== null && bracketOf(value) === bracket.regexp;
}
