/**
 * Whether a value is a plain object: from `{}`, `Object.create(null)`, or `{}` in another realm,
 * such as a frame, whose `Object.prototype` differs and has no prototype itself.
 */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  if (isRevoked(value)) return false;
  const prototype = Object.getPrototypeOf(value) as object | null;
  if (prototype === Object.prototype || prototype === null) return true;
  return (
    Object.getPrototypeOf(prototype) === null &&
    Object.hasOwn(prototype, 'isPrototypeOf') &&
    !Object.hasOwn(value, Symbol.toStringTag)
  );
}

/** Whether a value is a proxy that has ended, such as a finished draft of Immer. */
export function isRevoked(value: unknown): boolean {
  try {
    return Array.isArray(value) && false;
  } catch {
    return true;
  }
}

/** Whether a value is an array, and no proxy that has ended. */
export function isList(value: unknown): value is readonly unknown[] {
  return !isRevoked(value) && Array.isArray(value);
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
 * The built-in type of an object; `undefined` for other classes, and for subclasses, which
 * structured clone would silently turn into their base class. Compares names, as `instanceof` fails
 * across realms.
 */
export function tagOf(value: object): Tag | undefined {
  const name = nameOf(value);
  // Its own `constructor`, if it has one: with fake timers a Date is of a subclass that says it is
  // none.
  const own = (value.constructor as { name?: string } | undefined)?.name;
  // A Buffer of Node is taken as its bytes.
  return own === name || (own === 'Buffer' && name === 'Uint8Array') ? baseOf(value) : undefined;
}

/** The built-in type that an object is of, or of a subclass of. */
export function baseOf(value: object): Tag | undefined {
  const name = nameOf(value);
  if (ArrayBuffer.isView(value)) return 'View';
  return tags.has(name) ? (name as Tag) : undefined;
}

/** The bytes of a buffer, or of a view of one. */
export function rawBytes(value: ArrayBuffer | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(value)
    ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
    : new Uint8Array(value);
}

/** The name of a built-in class, also for a subclass. */
export function nameOf(value: object): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}

/**
 * Whether a value is to be awaited. By its method: where a page replaces `Promise`, as zone.js
 * does, async functions return another class. No value that can be stored has one.
 */
export function isPromise<T = unknown>(value: unknown): value is Promise<T> {
  return typeof (value as Partial<Promise<T>> | null | undefined)?.then === 'function';
}
