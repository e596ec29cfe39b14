import { isPlainObject, tagOf } from '../../codec/kinds.ts';
import { MAX_LINE } from './limits.ts';

/** Bytes that a value holds. */
export type Binary = Blob | Uint8Array;

/** A value that JSON does not keep exactly, as JSON. */
export interface ExactJson {
  readonly json: string;
  /** The bytes it refers to by their places in this list. */
  readonly binaries: readonly Binary[];
}

/** The value is too large to be one line. */
export class TooLong extends Error {}

/**
 * Writes a value in JSON of which {@link decodeExact} makes the same value again.
 *
 * What JSON has stays as it is. The rest are marks: objects with one key, which begins with `$`, such as
 * `{"$date":0}`. A plain object that looks like a mark is put into one, `{"$plain":…}`. Values hold
 * no references to each other: so reading takes no more than what is there, and a line can be read by eye.
 *
 * @param value one that was captured (codec/capture.ts).
 * @throws {TooLong}
 */
export function encodeExact(value: unknown): ExactJson {
  const encoding = new Encoding();
  const marked = encoding.encode(value);
  return { json: JSON.stringify(marked), binaries: encoding.binaries };
}

class Encoding {
  readonly binaries: Binary[] = [];
  /** At least as many bytes are on the line. Counted as it grows: a string that is too long cannot be made. */
  #length = 0;

  encode(value: unknown): unknown {
    this.#count(1);
    switch (typeof value) {
      case 'string':
        this.#count(value.length);
        return value;
      case 'number':
        if (Number.isFinite(value) && !Object.is(value, -0)) return value;
        return { $number: Object.is(value, -0) ? '-0' : String(value) };
      case 'undefined':
        return { $undefined: true };
      case 'bigint': {
        // In decimal, Firefox and WebKit would take seconds for the longest that they have.
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
      case 'Blob': {
        const { type } = value as Blob;
        return { $blob: { type, bytes: this.#binary(value as Blob) } };
      }
      case 'File': {
        const { name, lastModified, type } = value as File;
        return { $file: { name, lastModified, type, bytes: this.#binary(value as File) } };
      }
      default:
        throw new TypeError(`There is no way to write ${String(value)}.`);
    }
  }

  #array(value: readonly unknown[]): unknown {
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
    return { $bytes: { type, bytes: this.#binary(bytes) } };
  }

  #binary(binary: Binary): number {
    return this.binaries.push(binary) - 1;
  }

  #count(bytes: number): void {
    this.#length += bytes;
    if (this.#length > MAX_LINE) throw new TooLong();
  }
}

/** Ends at the first hole, however many there are. */
function hasHoles(value: readonly unknown[]): boolean {
  for (let index = 0; index < value.length; index++) {
    if (value[index] === undefined && !(index in value)) return true;
  }
  return false;
}
