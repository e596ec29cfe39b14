import { Malformed } from '../../errors/errors.ts';
import { asArray, asObject, asString, fileUnsupported, type JsonObject } from './json-checks.ts';

export interface BinarySource {
  /** Returns the bytes of an index, once. */
  takeBytes(index: unknown): Uint8Array<ArrayBuffer>;
  takeParts(index: unknown): BlobPart[];
}

/**
 * Decodes the output of `encodeExact`. Hostile JSON takes no more memory than its text, and may
 * decode to any value of JSON or a wrapper: the caller must check it by `encode`.
 *
 * @throws {Malformed} or a platform error for other input.
 */
export function decodeExact(encoded: unknown, binaries: BinarySource): unknown {
  if (typeof encoded !== 'object' || encoded === null) return encoded;
  if (Array.isArray(encoded)) {
    // The columns of a segment: most of its JSON.
    if (encoded.every((item) => typeof item !== 'object')) return encoded.slice();
    return encoded.map((item) => decodeExact(item, binaries));
  }
  const keys = Object.keys(encoded);
  const [name] = keys;
  if (keys.length === 1 && name?.startsWith('$')) {
    const read = Object.hasOwn(wrappers, name) ? wrappers[name] : undefined;
    if (!read) throw new Malformed(`there is no type "${name}"`);
    return read((encoded as JsonObject)[name], binaries);
  }
  return decodeFields(encoded as JsonObject, binaries);
}

const wrappers: Readonly<Record<string, (content: unknown, binaries: BinarySource) => unknown>> = {
  $undefined: () => undefined,
  $number: (text) => {
    if (!['NaN', 'Infinity', '-Infinity', '-0'].includes(text as string)) {
      throw new Malformed('"$number" is not NaN, Infinity, -Infinity or -0');
    }
    return Number(text);
  },
  $bigint: (text) => {
    if (typeof text !== 'string' || !/^-?[0-9a-f]+$/.test(text)) {
      throw new Malformed('"$bigint" is not a hexadecimal number');
    }
    return text.startsWith('-') ? -fromHex(text.slice(1)) : fromHex(text);
  },
  $date: (time) => {
    const date = new Date(time === null ? Number.NaN : (time as number));
    if (time !== null && date.getTime() !== time)
      throw new Malformed('"$date" is not a valid time');
    return date;
  },
  $regexp: (content) => {
    const { source, flags } = asObject(content, '"$regexp"');
    return new RegExp(asString(source, 'a source'), asString(flags, 'flags'));
  },
  $map: (content, binaries) => {
    const pairs = asArray(content, '"$map"').map((pair) => {
      const { length, 0: key, 1: item } = asArray(pair, 'an entry of "$map"');
      if (length !== 2) throw new Malformed('an entry of "$map" is not a pair');
      return [decodeExact(key, binaries), decodeExact(item, binaries)] as const;
    });
    return new Map(pairs);
  },
  $set: (content, binaries) =>
    new Set(asArray(content, '"$set"').map((item) => decodeExact(item, binaries))),
  $sparse: (content, binaries) => {
    const { length, items } = asObject(content, '"$sparse"');
    const array: unknown[] = [];
    if (typeof length !== 'number') throw new Malformed('"$sparse" has no length');
    array.length = length; // throws for an invalid length
    for (const [key, item] of Object.entries(asObject(items, '"items" of "$sparse"'))) {
      if (!(Number(key) < array.length) || !/^\d+$/.test(key)) {
        throw new Malformed('"$sparse" has an invalid index');
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
    if (!Number.isInteger(lastModified))
      throw new Malformed('"lastModified" is not a whole number');
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
  if (!VIEWS.includes(type)) throw new Malformed('"$bytes" has an unknown type');
  const View = (globalThis as unknown as Record<string, ViewConstructor | undefined>)[
    type as string
  ];
  if (View) return View;
  throw fileUnsupported(String(type));
}

function decodeFields(encoded: JsonObject, binaries: BinarySource): unknown {
  // `__proto__` becomes an own field, which `encode` refuses.
  return Object.fromEntries(
    Object.entries(encoded).map(([key, item]) => [key, decodeExact(item, binaries)]),
  );
}

/** Recursive by halves: `BigInt()` takes quadratic time in WebKit. */
function fromHex(digits: string): bigint {
  if (digits.length <= 4096) return BigInt(`0x${digits}`);
  const half = digits.length >> 1;
  const low = digits.slice(-half);
  return (fromHex(digits.slice(0, -half)) << BigInt(half * 4)) | fromHex(low);
}
