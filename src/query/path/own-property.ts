import { isPlainObject } from '../../codec/kinds.ts';
import type { CriteriaErrorCode } from '../../errors/errors.ts';
import { unexpectedValue } from '../query-errors.ts';

/** Reads a segment of a path from an object; `undefined` if the object has no such field. */
export type PropertyReader = (container: object, key: string) => unknown;

/** Values nest no deeper either. */
export const MAX_SEGMENTS = 500;

let builtIns: readonly object[] | undefined;

/**
 * The reader that `key` needs so that it never reaches a prototype or a property of a built-in;
 * `undefined` if a direct read is safe. Decided once per query: only keys such as `constructor`,
 * `size` or `length` need a reader.
 *
 * @param plain Whether the containers are plain objects, as documents are: then only the names on
 *   `Object.prototype` need a reader.
 */
export function readerOf(key: string, plain: boolean): PropertyReader | undefined {
  if (key in Object.prototype) return readOwn;
  if (plain) return undefined;
  return isIndex(key) || isBuiltInName(key) ? readOwn : undefined;
}

/** Reads own properties of plain objects and items of arrays, nothing else. */
function readOwn(container: object, key: string): unknown {
  return ownsProperty(container, key) ? (container as Record<string, unknown>)[key] : undefined;
}

/** Whether a plain object has the field, or an array the index. */
export function ownsProperty(container: object, key: string): boolean {
  if (Array.isArray(container)) return isIndex(key) && Object.hasOwn(container, key);
  return Object.hasOwn(container, key) && isPlainObject(container);
}

/** Whether a segment of a path can be a position in an array: `0`, `17`, but not `007` or `-1`. */
export function isIndex(segment: string): boolean {
  return /^(?:0|[1-9]\d*)$/.test(segment);
}

function isBuiltInName(key: string): boolean {
  // Not at import: that must touch no global. File is missing on some servers.
  const { Blob, File } = globalThis as Partial<typeof globalThis>;
  builtIns ??= [Array, Date, RegExp, Map, Set, ArrayBuffer, DataView, Uint8Array, Blob, File].map(
    (type) => type?.prototype ?? {},
  );
  // An own property of every RegExp, so no prototype has it.
  return key === 'lastIndex' || builtIns.some((prototype) => key in prototype);
}

/**
 * Compiles a reader of the value at a dotted path; `undefined` for a missing field. With an array
 * on the path or at its end, it returns that array, and the caller has to follow the path through
 * it.
 */
export function valueReader(path: string): (document: object) => unknown {
  const segments = path.split('.');
  const readers = segments.map((key, level) => readerOf(key, level === 0));
  if (segments.length === 1 && !readers[0])
    return (document) => (document as Record<string, unknown>)[path];
  return (document) => {
    let value: unknown = document;
    for (let level = 0; level < segments.length; level++) {
      if (typeof value !== 'object' || value === null) return undefined;
      if (Array.isArray(value)) return value;
      const key = segments[level] as string;
      const reader = readers[level];
      value = reader ? reader(value, key) : (value as Record<string, unknown>)[key];
    }
    return value;
  };
}

/** The segments of a dotted path. @throws {CriteriaError} for an impossible path. */
export function checkPath(path: unknown, code: CriteriaErrorCode, place: string): string[] {
  const segments = typeof path === 'string' ? path.split('.') : [''];
  const isEmpty = segments.some((segment) => segment === '' || segment === '__proto__');
  if (isEmpty || segments.length > MAX_SEGMENTS)
    throw unexpectedValue(code, place, 'a path such as "name" or "address.city"', path);
  return segments;
}
