import { unsupported } from './file-errors.ts';
import { asArray, asObject, asString, Flaw, type JsonObject } from './flaw.ts';

/** The bytes that came before a record. */
export interface Binaries {
  /** Those at a place, each only once. */
  takeBytes(place: unknown): Uint8Array<ArrayBuffer>;
  takeParts(place: unknown): BlobPart[];
}

/**
 * The value of what `encodeExact` wrote. What it makes of hostile JSON takes no more memory than the JSON,
 * and may be anything that JSON or a mark can be: `encode` has to check it.
 *
 * @throws for what is no such encoding.
 */
export function decodeExact(marked: unknown, binaries: Binaries): unknown {
  if (typeof marked !== 'object' || marked === null) return marked;
  if (Array.isArray(marked)) return marked.map((item) => decodeExact(item, binaries));
  const keys = Object.keys(marked);
  const [name] = keys;
  if (keys.length === 1 && name?.startsWith('$')) {
    const read = Object.hasOwn(marks, name) ? marks[name] : undefined;
    if (!read) throw new Flaw(`there is no mark "${name}"`);
    return read((marked as JsonObject)[name], binaries);
  }
  return decodeFields(marked as JsonObject, binaries);
}

const marks: Readonly<Record<string, (content: unknown, binaries: Binaries) => unknown>> = {
  $undefined: () => undefined,
  $number: (text) => {
    if (!['NaN', 'Infinity', '-Infinity', '-0'].includes(text as string)) {
      throw new Flaw('"$number" is not NaN, Infinity, -Infinity or -0');
    }
    return Number(text);
  },
  $bigint: (text) => {
    if (typeof text !== 'string' || !/^-?[0-9a-f]+$/.test(text)) {
      throw new Flaw('"$bigint" is no hexadecimal number');
    }
    return text.startsWith('-') ? -fromHex(text.slice(1)) : fromHex(text);
  },
  $date: (time) => {
    const date = new Date(time === null ? Number.NaN : (time as number));
    if (time !== null && date.getTime() !== time) throw new Flaw('"$date" is no instant');
    return date;
  },
  $regexp: (content) => {
    const { source, flags } = asObject(content, '"$regexp"');
    return new RegExp(asString(source, 'a source'), asString(flags, 'flags'));
  },
  $map: (content, binaries) => {
    const pairs = asArray(content, '"$map"').map((pair) => {
      const { length, 0: key, 1: item } = asArray(pair, 'an entry of "$map"');
      if (length !== 2) throw new Flaw('an entry of "$map" is no pair');
      return [decodeExact(key, binaries), decodeExact(item, binaries)] as const;
    });
    return new Map(pairs);
  },
  $set: (content, binaries) =>
    new Set(asArray(content, '"$set"').map((item) => decodeExact(item, binaries))),
  $sparse: (content, binaries) => {
    const { length, items } = asObject(content, '"$sparse"');
    const array: unknown[] = [];
    if (typeof length !== 'number') throw new Flaw('"$sparse" has no length');
    array.length = length; // throws for what no array can have
    for (const [key, item] of Object.entries(asObject(items, 'what "$sparse" holds'))) {
      if (!(Number(key) < array.length) || !/^\d+$/.test(key)) {
        throw new Flaw('"$sparse" has an item out of place');
      }
      array[Number(key)] = decodeExact(item, binaries);
    }
    return array;
  },
  $plain: (content, binaries) => decodeFields(asObject(content, '"$plain"'), binaries),
  $bytes: (content, binaries) => {
    const { type, bytes } = asObject(content, '"$bytes"');
    const { buffer } = binaries.takeBytes(bytes);
    return type === 'ArrayBuffer' ? buffer : new (viewNamed(type))(buffer);
  },
  $blob: (content, binaries) => {
    const { type, bytes } = asObject(content, '"$blob"');
    return new Blob(binaries.takeParts(bytes), { type: asString(type, 'a type') });
  },
  $file: (content, binaries) => {
    const { name, lastModified, type, bytes } = asObject(content, '"$file"');
    if (!Number.isInteger(lastModified)) throw new Flaw('"lastModified" is no whole number');
    return new File(binaries.takeParts(bytes), asString(name, 'a name'), {
      type: asString(type, 'a type'),
      lastModified: lastModified as number,
    });
  },
};

const VIEWS: readonly unknown[] = [
  'Int8Array',
  'Uint8Array',
  'Uint8ClampedArray',
  'Int16Array',
  'Uint16Array',
  'Int32Array',
  'Uint32Array',
  'Float16Array',
  'Float32Array',
  'Float64Array',
  'BigInt64Array',
  'BigUint64Array',
  'DataView',
];

type ViewConstructor = new (buffer: ArrayBuffer) => ArrayBufferView;

function viewNamed(type: unknown): ViewConstructor {
  if (!VIEWS.includes(type)) throw new Flaw('"$bytes" is of no known type');
  const View = (globalThis as unknown as Record<string, ViewConstructor | undefined>)[
    type as string
  ];
  if (View) return View;
  throw unsupported(String(type));
}

function decodeFields(marked: JsonObject, binaries: Binaries): unknown {
  // Makes own fields of all keys, `__proto__` too; `encode` refuses that.
  return Object.fromEntries(
    Object.entries(marked).map(([key, item]) => [key, decodeExact(item, binaries)]),
  );
}

/** By halves: WebKit takes time with the square of the length. */
function fromHex(digits: string): bigint {
  if (digits.length <= 4096) return BigInt(`0x${digits}`);
  const half = digits.length >> 1;
  const low = digits.slice(-half);
  return (fromHex(digits.slice(0, -half)) << BigInt(half * 4)) | fromHex(low);
}
