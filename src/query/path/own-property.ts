import { isPlainObject } from '../../codec/kinds.ts';

/** Reads a segment of a path from an object on the way; `undefined` when it holds no such thing. */
export type PropertyReader = (container: object, key: string) => unknown;

/**
 * The cheapest way to read `key` that never reaches a prototype or a property of a built-in.
 *
 * Decided once per query: a key that no prototype knows can be read directly, whatever the object is, and a
 * miss is `undefined`. Only keys such as `constructor`, `size` or `length` need the slow reader.
 *
 * @param plain Whether the containers are known to be plain objects, as documents are: then only the
 *   names on `Object.prototype` are in the way.
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

let builtIns: readonly object[] | undefined;

function isBuiltInName(key: string): boolean {
  // Looked up late: importing the package must touch no global, and Blob is missing on some servers.
  builtIns ??= [
    ...[Array, Date, RegExp, Map, Set, ArrayBuffer, DataView, Uint8Array].map(
      (type) => type.prototype,
    ),
    ...['Blob', 'File'].flatMap((name) => {
      const type = (globalThis as Record<string, unknown>)[name];
      return typeof type === 'function' ? [type.prototype as object] : [];
    }),
  ];
  // An own property of every RegExp, so no prototype has it.
  return key === 'lastIndex' || builtIns.some((prototype) => key in prototype);
}
