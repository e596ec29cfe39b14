import { bracket, bracketOf } from './value-type.ts';

/**
 * A key of a Map that is the same exactly for values that `compareValues` holds equal: a scalar by
 * itself, others by a text that begins with NUL. A Blob, key or handle is equal to itself
 * alone.
 *
 * @param fold Makes strings the same that count as equal.
 */
export function valueKey(value: unknown, fold?: FoldStrings): unknown {
  switch (typeof value) {
    case 'string': {
      const text = fold ? fold(value) : value;
      return text.charCodeAt(0) === 0 ? `\0${text}` : text;
    }
    case 'number':
      return Number.isInteger(value) && !Number.isSafeInteger(value) ? BigInt(value) : value;
    case 'bigint':
      return Number.isSafeInteger(Number(value)) ? Number(value) : value;
    case 'object':
      return value === null ? value : `\0${textOf(value, fold)}`;
    default:
      return value;
  }
}

type FoldStrings = (text: string) => string;

const blobs = new WeakMap<object, number>();
let lastBlob = 0;

/**
 * A text of a value within others: no text is the beginning of another one's. Scalars come first,
 * as groups by several of them are frequent.
 */
function textOf(value: unknown, fold?: FoldStrings): string {
  if (typeof value === 'string') {
    const text = fold ? fold(value) : value;
    return `s${text.length}:${text}`;
  }
  if (typeof value === 'number' || typeof value === 'bigint') return `n${valueKey(value)};`;
  if (value instanceof Date) return dateText(value.getTime());
  const kind = bracketOf(value);
  let text = String.fromCharCode(65 + kind);
  switch (kind) {
    case bracket.date:
      return dateText((value as Date).getTime());
    case bracket.array:
    case bracket.set:
      for (const item of value as Iterable<unknown>) text += textOf(item, fold);
      break;
    case bracket.object:
      for (const key of Object.keys(value as object))
        text += textOf(key) + textOf((value as Record<string, unknown>)[key], fold);
      break;
    case bracket.map:
      for (const [key, item] of value as Map<unknown, unknown>)
        text += textOf(key, fold) + textOf(item, fold);
      break;
    case bracket.binary:
      text += Object.prototype.toString.call(value) + bytesOf(value as ArrayBuffer);
      break;
    case bracket.blob:
    case bracket.other:
      if (!blobs.has(value as object)) blobs.set(value as object, ++lastBlob);
      text += blobs.get(value as object);
      break;
    default:
      text += JSON.stringify(String(value));
  }
  return `${text};`;
}

/** Its bits as characters: digits would take three times as long. */
function dateText(time: number): string {
  const high = Math.floor(time / 2 ** 32);
  return Number.isNaN(time)
    ? 'D'
    : String.fromCharCode(100, time & 0xffff, (time >>> 16) & 0xffff, high & 0xffff, high >>> 16);
}

function bytesOf(value: ArrayBuffer | ArrayBufferView): Uint8Array {
  const { buffer = value as ArrayBuffer, byteOffset = 0 } = value as Partial<ArrayBufferView>;
  return new Uint8Array(buffer, byteOffset, value.byteLength);
}
