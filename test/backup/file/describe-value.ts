/**
 * A storable value as plain, comparable data: its types, the order of its keys, its holes, the bits
 * of its numbers, the bytes of its Blobs.
 */
export async function describeValue(value: unknown): Promise<unknown> {
  if (typeof value === 'string') return ['string', ...value].map(codes);
  if (typeof value !== 'object' || value === null) {
    return [typeof value, Object.is(value, -0) ? '-0' : String(value)];
  }
  if (Array.isArray(value)) {
    return ['array', value.length, await entries(Object.entries(value))];
  }
  const name = Object.prototype.toString.call(value).slice(8, -1);
  if (name === 'Object') return ['object', await entries(Object.entries(value))];
  if (value instanceof Map) return [name, await entries([...value])];
  if (value instanceof Set) return [name, await Promise.all([...value].map(describeValue))];
  if (value instanceof Date) return [name, String(value.getTime())];
  if (value instanceof RegExp) return [name, value.source, value.flags];
  if (value instanceof Blob) {
    const file = value instanceof File ? [value.name, value.lastModified] : [];
    return [name, value.type, ...file, bytesOf(await value.arrayBuffer())];
  }
  return [name, bytesOf(value as ArrayBuffer | ArrayBufferView)];
}

function entries(pairs: readonly (readonly [unknown, unknown])[]): Promise<unknown[]> {
  return Promise.all(
    pairs.map(async ([key, item]) => [await describeValue(key), await describeValue(item)]),
  );
}

/** Distinguishes lone surrogates, too. */
function codes(part: string): string {
  return /[\ud800-\udfff]/.test(part) ? JSON.stringify(part) : part;
}

/** One character for each byte. */
const decoder = new TextDecoder('windows-1252');

function bytesOf(value: ArrayBuffer | ArrayBufferView): string {
  return decoder.decode(value);
}
