const identities = new WeakMap<object, number>();
let objects = 0;

/**
 * A text that is equal for equal values. Functions and Blobs count by identity; functions by their text if the caller
 * names what they close over.
 *
 * The order of fields counts, as it does in `sort` and in objects that documents are compared with. It does not count
 * among operators, and for `sorted`.
 */
export function keyOf(value: unknown, isNamed = false): string {
  return JSON.stringify([value], function (this: Record<string, unknown>, name, json: unknown) {
    // `json` of a Date is a string already.
    const field = this[name];
    const tag = Object.prototype.toString.call(field).slice(8, -1);
    if (tag === 'Object') return Object.keys(field as object)[0]?.[0] === '$' ? sorted(json) : json;
    if (/^(Array|String|Null|Boolean)$/.test(tag)) return json;
    return { [`\0${tag}`]: contentOf(field, tag, isNamed) };
  });
}

function contentOf(value: unknown, tag: string, isNamed: boolean): unknown {
  if (typeof value !== 'object' && (isNamed || typeof value !== 'function')) return String(value);
  const object = value as Date & Set<unknown> & Uint8Array<ArrayBuffer>;
  if (tag === 'Date') return object.getTime();
  if (tag === 'RegExp') return String(object);
  if (tag === 'Map' || tag === 'Set') return [...object];
  if (tag === 'ArrayBuffer') return [...new Uint8Array(object as unknown as ArrayBuffer)];
  if (ArrayBuffer.isView(object))
    return [...new Uint8Array(object.buffer, object.byteOffset, object.byteLength)];
  let identity = identities.get(object);
  if (!identity) {
    objects += 1;
    identity = objects;
    identities.set(object, identity);
  }
  return identity;
}

/** A copy with its fields in alphabetical order. */
export function sorted(fields: unknown): unknown {
  if (Object.prototype.toString.call(fields) !== '[object Object]') return fields;
  return Object.fromEntries(Object.entries(fields as object).sort(([a], [b]) => (a < b ? -1 : 1)));
}
