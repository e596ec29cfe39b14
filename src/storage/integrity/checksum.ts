import { hashText, mix } from '../../codec/hash-text.ts';
import { isPlainObject, rawBytes, tagOf } from '../../codec/kinds.ts';

/**
 * A checksum of 32 bits of anything that is stored. Of a Blob, size and type alone: its content is
 * read asynchronously.
 */
export function checksumOf(value: unknown): number {
  return mixValue(0, value) >>> 0;
}

const float = new Float64Array(1);
const words = new Int32Array(float.buffer);

export function mixValue(hash: number, value: unknown): number {
  switch (typeof value) {
    case 'string':
      return mix(mix(hash, 1), hashText(value));
    case 'number':
      return mixNumber(hash, value);
    case 'object':
      return value === null ? mix(hash, 2) : mixObject(hash, value);
    default:
      return mix(mix(hash, 3), hashText(String(value)));
  }
}

function mixNumber(hash: number, value: number): number {
  // The bits of NaN are not defined.
  if (Number.isNaN(value)) return mix(hash, 7);
  float[0] = value;
  return mix(mix(mix(hash, 4), words[0] as number), words[1] as number);
}

function mixObject(hash: number, value: object): number {
  if (Array.isArray(value)) return mixArray(mix(hash, 5), value);
  if (isPlainObject(value)) {
    let mixed = mix(hash, 6);
    for (const name of Object.keys(value))
      mixed = mixValue(mix(mixed, hashText(name)), value[name]);
    return mixed;
  }
  const tag = tagOf(value);
  const tagged = mix(hash, hashText(tag ?? ''));
  switch (tag) {
    case 'Date':
      return mixNumber(tagged, (value as Date).getTime());
    case 'RegExp':
      return mix(tagged, hashText(String(value)));
    case 'Map':
    case 'Set':
      return mixArray(tagged, [...(value as Set<unknown>)]);
    case 'ArrayBuffer':
      return mix(tagged, byteChecksum(new Uint8Array(value as ArrayBuffer)));
    case 'View':
      return mixView(tagged, value as ArrayBufferView);
    case 'Blob':
    case 'File':
      return mixNumber(mix(hash, hashText((value as Blob).type)), (value as Blob).size);
    default:
      return tagged;
  }
}

function mixArray(hash: number, items: readonly unknown[]): number {
  let mixed = mix(hash, items.length);
  for (let index = 0; index < items.length; index++) {
    const item = items[index];
    // From a hole on: an array may have four billion.
    if (item === undefined && !(index in items)) return mixSparse(mixed, items, index);
    mixed = mixValue(mixed, item);
  }
  return mixed;
}

function mixSparse(hash: number, items: readonly unknown[], from: number): number {
  let mixed = hash;
  for (const index of Object.keys(items).slice(from))
    mixed = mixValue(mix(mixed, hashText(index)), items[Number(index)]);
  return mixed;
}

function mixView(hash: number, view: ArrayBufferView): number {
  const bytes = rawBytes(view);
  const name = hashText(view.constructor.name);
  // Words can be read at multiples of four alone.
  return mix(mix(hash, name), byteChecksum(view.byteOffset % 4 === 0 ? bytes : bytes.slice()));
}

/**
 * A checksum of 32 bits, by the mixing of MurmurHash3 over two lanes: it finds what a torn write or
 * a bad sector leaves, at a fifth of the time of a CRC-32.
 *
 * @param bytes At an offset that is a multiple of four.
 */
export function byteChecksum(bytes: Uint8Array): number {
  const count = bytes.length >> 2;
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, count);
  // Not the length itself, which the last bytes could cancel.
  let even = Math.imul(bytes.length + 1, 0x85ebca6b);
  let odd = 0x9747b28c;
  const pairs = count & ~1;
  for (let index = 0; index < pairs; index += 2) {
    even = Math.imul(even ^ (words[index] as number), 0xcc9e2d51);
    even ^= even >>> 15;
    odd = Math.imul(odd ^ (words[index + 1] as number), 0x1b873593);
    odd ^= odd >>> 13;
  }
  let tail = pairs < count ? (words[pairs] as number) : 0;
  for (let at = count * 4; at < bytes.length; at++)
    tail = Math.imul(tail, 31) + (bytes[at] as number);
  let hash = Math.imul(even ^ tail, 0x85ebca6b) ^ Math.imul(odd, 0xc2b2ae35);
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}
