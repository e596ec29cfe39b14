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
  return `${String.fromCharCode(97 + bracketOf(value))}${contentOf(value)};`;
}

function contentOf(value: unknown): unknown {
  const within = (items: readonly unknown[]) => items.map(textOf).join('');
  switch (bracketOf(value)) {
    case bracket.number:
      return valueKey(value);
    case bracket.date:
      return (value as Date).getTime();
    case bracket.array:
    case bracket.set:
      return within([...(value as Iterable<unknown>)]);
    case bracket.object:
      return within(Object.entries(value as object).flat());
    case bracket.map:
      return within([...(value as Map<unknown, unknown>)].flat());
    case bracket.binary:
      return Object.prototype.toString.call(value) + bytesOf(value as ArrayBuffer);
    case bracket.blob:
      if (!blobs.has(value as object)) blobs.set(value as object, ++lastBlob);
      return blobs.get(value as object);
    default:
      return JSON.stringify(String(value));
  }
}

/** Of what an ArrayBuffer holds, or a view shows. */
function bytesOf(value: ArrayBuffer | ArrayBufferView): Uint8Array {
  const { buffer = value as ArrayBuffer, byteOffset = 0 } = value as Partial<ArrayBufferView>;
  return new Uint8Array(buffer, byteOffset, value.byteLength);
}
