import { ValueError } from '../../errors/errors.ts';
import { isPlainObject, nameOf, tagOf } from '../kinds.ts';

/** What structured clone alone can copy counts as a Blob: it has no size. */
export type Binary = Blob | Uint8Array;

/** The error of a Blob, key or handle where its content cannot be text. */
export function notText(value: object, place?: string): ValueError {
  return new ValueError(
    'value_unsupported',
    `A ${nameOf(value)} is no text: store bytes in its place.`,
    { place },
  );
}

/** A value as JSON, with its binary data separate. */
export interface ExactJson {
  readonly json: string;
  /** Referenced from `json` by index. */
  readonly binaries: readonly Binary[];
}

/** The JSON of the value would be too long. */
export class TooLong extends Error {}

/**
 * Encodes a value as JSON that {@link decodeExact} turns back into an equal value.
 *
 * JSON values stay as they are. Other types get a wrapper: an object with one key that begins with
 * `$`, such as `{"$date":0}`. A plain object that looks like a wrapper is wrapped itself,
 * `{"$plain":…}`. The encoding is a tree without references: decoding a hostile file takes no more
 * memory than the file.
 *
 * @param value Checked by codec/capture.ts.
 * @param maxLength Rough maximum length of the JSON, in characters.
 * @throws {TooLong}
 * @throws {ValueError} `value_unsupported` for what structured clone alone can copy.
 */
export function encodeExact(value: unknown, maxLength: number): ExactJson {
  const binaries: Binary[] = [];
  const encoded = encodeExactTree(value, maxLength, (binary) => binaries.push(binary) - 1);
  return { json: JSON.stringify(encoded), binaries };
}

/**
 * As {@link encodeExact}, before it is text.
 *
 * @param place Returns what stands for binary data in the tree.
 */
export function encodeExactTree(
  value: unknown,
  maxLength: number,
  place: (binary: Binary) => string | number,
): unknown {
  return new Encoding(maxLength, place).encode(value);
}

class Encoding {
  readonly #maxLength: number;
  readonly #place: (binary: Binary) => string | number;
  /** Lower bound of the JSON's length so far: a string over the engine's limit cannot be built. */
  #length = 0;

  constructor(maxLength: number, place: (binary: Binary) => string | number) {
    this.#maxLength = maxLength;
    this.#place = place;
  }

  encode(value: unknown): unknown {
    this.#count(1);
    switch (typeof value) {
      case 'string':
        this.#count(value.length);
        return value;
      case 'number':
        if (isJsonNumber(value)) return value;
        return { $number: Object.is(value, -0) ? '-0' : String(value) };
      case 'undefined':
        return { $undefined: true };
      case 'bigint': {
        // Hexadecimal: in decimal the longest take seconds in Firefox and WebKit.
        const hex = value.toString(16);
        this.#count(hex.length);
        return { $bigint: hex };
      }
      case 'object':
        return value === null ? null : this.#object(value);
      default:
        return value;
    }
  }

  #object(value: object): unknown {
    if (Array.isArray(value)) return this.#array(value);
    if (isPlainObject(value)) {
      const keys = Object.keys(value);
      const fields = this.#fields(value, keys);
      return keys.length === 1 && keys[0]?.startsWith('$') ? { $plain: fields } : fields;
    }
    switch (tagOf(value)) {
      case 'Date': {
        const time = (value as Date).getTime();
        return { $date: Number.isNaN(time) ? null : time };
      }
      case 'RegExp': {
        const { source, flags } = value as RegExp;
        this.#count(source.length);
        return { $regexp: { source, flags } };
      }
      case 'Map':
        return { $map: Array.from(value as Map<unknown, unknown>, (pair) => this.#array(pair)) };
      case 'Set':
        return { $set: Array.from(value as Set<unknown>, (item) => this.encode(item)) };
      case 'ArrayBuffer':
        return this.#bytes('ArrayBuffer', new Uint8Array(value as ArrayBuffer));
      case 'View': {
        const { buffer, byteOffset, byteLength } = value as ArrayBufferView;
        return this.#bytes(value.constructor.name, new Uint8Array(buffer, byteOffset, byteLength));
      }
      case 'File': {
        const { name, lastModified, type } = value as File;
        return { $file: { name, lastModified, type, bytes: this.#place(value as File) } };
      }
      default: {
        const { type } = value as Blob;
        return { $blob: { type, bytes: this.#place(value as Blob) } };
      }
    }
  }

  #array(value: readonly unknown[]): unknown {
    const length = lengthOfColumn(value);
    if (length !== undefined) {
      this.#count(length);
      return value.slice();
    }
    if (!hasHoles(value)) {
      this.#count(value.length);
      return value.map((item) => this.encode(item));
    }
    return { $sparse: { length: value.length, items: this.#fields(value, Object.keys(value)) } };
  }

  #fields(value: object, keys: readonly string[]): object {
    const fields: Record<string, unknown> = {};
    for (const key of keys) {
      this.#count(key.length);
      fields[key] = this.encode((value as Record<string, unknown>)[key]);
    }
    return fields;
  }

  #bytes(type: string, bytes: Uint8Array): object {
    return { $bytes: { type, bytes: this.#place(bytes) } };
  }

  #count(characters: number): void {
    this.#length += characters;
    if (this.#length > this.#maxLength) throw new TooLong();
  }
}

/** Rough length in JSON of an array of texts and numbers; `undefined` for any other. */
function lengthOfColumn(value: readonly unknown[]): number | undefined {
  let length = 2 * value.length;
  for (let index = 0; index < value.length; index++) {
    const item = value[index];
    if (typeof item === 'string') length += item.length;
    else if (!isJsonNumber(item)) return undefined;
  }
  return length;
}

function isJsonNumber(value: unknown): value is number {
  return Number.isFinite(value) && !Object.is(value, -0);
}

function hasHoles(value: readonly unknown[]): boolean {
  for (let index = 0; index < value.length; index++) {
    if (value[index] === undefined && !(index in value)) return true;
  }
  return false;
}
