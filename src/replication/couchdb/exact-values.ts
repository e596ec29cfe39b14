import { type JsonObject, Malformed } from '../../codec/exact-json/json-checks.ts';
import { isPlainObject } from '../../codec/kinds.ts';
import { decodeDocument, encodeDocument } from '../protocol/wire-documents.ts';

type Path = readonly (string | number)[];

/** Values that JSON does not keep, by their paths; encoded as by `codec/exact-json`. */
export interface ExactValues {
  readonly paths: readonly Path[];
  readonly values: readonly unknown[];
}

/**
 * Splits fields into plain JSON, which other programs understand, and the exact values. A date stands in the JSON as its
 * ISO string; other values as their type, such as `$map`.
 *
 * @throws {ValueError} for a Blob.
 * @throws {TooLong}
 */
export function takeExact(fields: JsonObject): {
  readonly json: JsonObject;
  readonly exact: ExactValues | undefined;
} {
  const taken = new Taken();
  const json = taken.take(fields, []) as JsonObject;
  if (taken.paths.length === 0) return { json, exact: undefined };
  return { json, exact: { paths: taken.paths, values: taken.encoded() } };
}

/** Puts exact values back, except where another program has changed what stands for them. */
export function restoreExact(document: object, exact: ExactValues): object {
  const { paths, values } = exact;
  const decoded = decode(values);
  if (!decoded || !Array.isArray(paths) || paths.length !== decoded.length) return document;
  for (const [index, path] of paths.entries()) {
    if (!Array.isArray(path) || path.length === 0) continue;
    const holder = holderOf(document, path);
    const last = path.at(-1) as string;
    if (!holder || !Object.hasOwn(holder, last)) continue;
    const value = decoded[index];
    if ((holder as JsonObject)[last] === standIn(value, (values as unknown[])[index]))
      (holder as Record<string, unknown>)[last] = value;
  }
  return document;
}

class Taken {
  readonly paths: Path[] = [];
  readonly #values: unknown[] = [];
  readonly #standIns: ((text: string) => void)[] = [];

  /** @returns the value as JSON. */
  take(value: unknown, path: Path): unknown {
    if (Array.isArray(value) && !hasHoles(value))
      return this.#filled(
        value.map((item, index) => [index, item]),
        [],
        path,
      );
    if (isPlainObject(value)) return this.#filled(Object.entries(value), {}, path);
    if (isJson(value)) return value;
    this.paths.push(path);
    this.#values.push(value);
    return undefined;
  }

  /** The encoded values; what stands for them is in its place afterwards. */
  encoded(): unknown[] {
    const { values } = encodeDocument({ _id: '', values: this.#values }) as JsonObject;
    const encoded = values as unknown[];
    for (const [index, put] of this.#standIns.entries())
      put(standIn(this.#values[index], encoded[index]));
    return encoded;
  }

  #filled<T extends object>(
    entries: readonly (readonly [string | number, unknown])[],
    copy: T,
    path: Path,
  ): T {
    for (const [key, item] of entries) {
      const count = this.#values.length;
      const put = (value: unknown) =>
        Object.defineProperty(copy, key, {
          ...{ value, enumerable: true, configurable: true, writable: true },
        });
      put(this.take(item, [...path, key]));
      // It was the value itself that was taken, and nothing within.
      if (this.#values.length > count && this.#standIns.length < this.#values.length)
        this.#standIns.push(put);
    }
    return copy;
  }
}

/** What stands in the JSON for a value outside JSON. */
function standIn(value: unknown, encoded: unknown): string {
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
  return isPlainObject(encoded) ? (Object.keys(encoded)[0] ?? '') : '';
}

/** @returns `undefined` if they are damaged. */
function decode(values: unknown): readonly unknown[] | undefined {
  try {
    const decoded = decodeDocument({ _id: '', values }, '') as { values: unknown };
    return Array.isArray(decoded.values) ? decoded.values : undefined;
  } catch (error) {
    if (error instanceof Malformed) return undefined;
    throw error;
  }
}

/** The object or array that holds the last step of a path. */
function holderOf(document: object, path: Path): object | undefined {
  let value: unknown = document;
  for (const key of path.slice(0, -1)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as JsonObject)[key];
  }
  return typeof value === 'object' && value !== null ? value : undefined;
}

function isJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
  return value === null || typeof value === 'string' || typeof value === 'boolean';
}

function hasHoles(array: readonly unknown[]): boolean {
  for (let index = 0; index < array.length; index++) if (!(index in array)) return true;
  return false;
}
