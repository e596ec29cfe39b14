import { bracket, bracketOf } from './value-type.ts';

/**
 * A key of a Map that is the same exactly for values that `compareValues` holds equal: a scalar by
 * itself, others by a text that begins with NUL. A Blob is equal to itself alone.
 */
export function valueKey(value: unknown): unknown {
  switch (typeof value) {
    case 'string':
      return value.charCodeAt(0) === 0 ? `\0${value}` : value;
    case 'number':
      return Number.isInteger(value) && !Number.isSafeInteger(value) ? BigInt(value) : value;
    case 'bigint':
      return Number.isSafeInteger(Number(value)) ? Number(value) : value;
    case 'object':
      if (value === null) return value;
      return bracketOf(value) === bracket.blob ? value : `\0${textOf(value)}`;
    default:
      return value;
  }
}

const blobs = new WeakMap<object, number>();
let lastBlob = 0;

/** A text of a value within others; no text is the beginning of another one's. */
function textOf(value: unknown): string {
  const kind = String.fromCharCode(97 + bracketOf(value));
  switch (bracketOf(value)) {
    case bracket.missing:
    case bracket.null:
      return kind;
    case bracket.number:
      return `${kind}${String(valueKey(value))};`;
    case bracket.date:
      return `${kind}${(value as Date).getTime()};`;
    case bracket.array:
    case bracket.set:
      return `${kind}${[...(value as Iterable<unknown>)].map(textOf).join('')};`;
    case bracket.object:
      return `${kind}${Object.entries(value as object)
        .flat()
        .map(textOf)
        .join('')};`;
    case bracket.map:
      return `${kind}${[...(value as Map<unknown, unknown>)].flat().map(textOf).join('')};`;
    case bracket.binary:
      return `${kind}${Object.prototype.toString.call(value)}${bytesOf(value as ArrayBuffer)};`;
    case bracket.blob:
      if (!blobs.has(value as object)) blobs.set(value as object, ++lastBlob);
      return `${kind}${blobs.get(value as object)};`;
    default:
      return kind + JSON.stringify(String(value));
  }
}

function bytesOf(value: ArrayBuffer | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(value)
    ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
    : new Uint8Array(value);
}
