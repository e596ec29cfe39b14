/**
 * Whether a value is a plain object: made by `{}`, by `Object.create(null)`, or by `{}` in another realm
 * (a frame, a test environment), whose `Object.prototype` is another object with no prototype of its own.
 */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value) as object | null;
  if (prototype === Object.prototype || prototype === null) return true;
  return (
    Object.getPrototypeOf(prototype) === null &&
    Object.hasOwn(prototype, 'isPrototypeOf') &&
    !Object.hasOwn(value, Symbol.toStringTag)
  );
}

/** A built-in type that storage keeps, or `undefined` for an instance of any other class. */
export type Tag = 'Date' | 'RegExp' | 'Map' | 'Set' | 'ArrayBuffer' | 'View' | 'Blob' | 'File';

const tags: ReadonlySet<string> = new Set<Tag>([
  'Date',
  'RegExp',
  'Map',
  'Set',
  'ArrayBuffer',
  'Blob',
  'File',
]);

/**
 * The built-in type of an object. A subclass has none: a structured clone would silently turn it into its
 * base class. Told by names and not by `instanceof`, so that it holds across realms.
 */
export function tagOf(value: object): Tag | undefined {
  const name = Object.prototype.toString.call(value).slice(8, -1);
  const prototype = Object.getPrototypeOf(value) as { constructor?: { name?: string } };
  if (prototype.constructor?.name !== name) return undefined;
  if (ArrayBuffer.isView(value)) return 'View';
  return tags.has(name) ? (name as Tag) : undefined;
}
