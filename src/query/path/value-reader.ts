import { readerOf } from './own-property.ts';

/**
 * Compiles a reader of the value at a dotted path; `undefined` for a missing field. With an array on the path or at its
 * end, it returns that array, and the caller has to follow the path through it.
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
