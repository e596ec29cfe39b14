/**
 * Whether a value is a plain object: from `{}`, `Object.create(null)`, or `{}` in another realm, such as a frame, whose
 * `Object.prototype` differs and has no prototype itself.
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

/** A built-in type that can be stored. */
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
 * The built-in type of an object; `undefined` for other classes, and for subclasses, which structured clone would
 * silently turn into their base class. Compares names, as `instanceof` fails across realms.
 */
export function tagOf(value: object): Tag | undefined {
  const name = Object.prototype.toString.call(value).slice(8, -1);
  // Its own `constructor`, if it has one: with fake timers a Date is of a subclass that says it is none.
  if ((value.constructor as { name?: string } | undefined)?.name !== name) return undefined;
  if (ArrayBuffer.isView(value)) return 'View';
  return tags.has(name) ? (name as Tag) : undefined;
}
