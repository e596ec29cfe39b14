import type { JsonObject } from '../../codec/exact-json/json-checks.ts';
import { decodeDocument, encodeDocument } from '../../codec/exact-json/wire-documents.ts';
import { hashText } from '../../codec/hash-text.ts';
import { isPlainObject } from '../../codec/kinds.ts';
import { Malformed } from '../../errors/errors.ts';

/**
 * Values that JSON does not keep, encoded as by `codec/exact-json`, by the text that stands for
 * each in the document.
 */
export type ExactValues = JsonObject;

/** What stands for values that are no dates: their type and the hash of their content. */
const STAND_IN = /^\$[a-z]{3,9}:[0-9a-f]{8}~*$/;

/**
 * Longest JSON of what one document may become: a text may stand for a large value in many places.
 */
const MAX_LENGTH = 32 * 1024 * 1024;

/** Deepest nesting of JSON that is looked into. */
const MAX_DEPTH = 1600;

/** Levels of the JSON, and of a value in it, that are fewer than the 500 of a document together. */
const FLAT_DEPTH = 200;

class Taken {
  /** Texts of the document itself. */
  readonly #texts = new Set<string>();
  readonly #values: unknown[] = [];
  readonly #puts: ((text: string) => void)[] = [];

  /** @returns the value as JSON; `undefined` if it is taken. */
  take(value: unknown): unknown {
    if (typeof value === 'string') this.#texts.add(value);
    else if (Array.isArray(value) && !hasHoles(value)) return this.#filled(value, []);
    else if (isPlainObject(value)) return this.#filled(value, {});
    else if (!isJson(value)) return undefined;
    return value;
  }

  /** The encoded values; what stands for them is in its place afterwards. */
  table(): ExactValues | undefined {
    if (this.#values.length === 0) return undefined;
    const { values } = encodeDocument({ _id: '', values: this.#values }) as JsonObject;
    const table = new Map<string, unknown>();
    for (const [index, encoded] of (values as unknown[]).entries()) {
      let text = standIn(this.#values[index], encoded);
      const isTaken = () =>
        this.#texts.has(text) ||
        (table.has(text) && hashJson(table.get(text)) !== hashJson(encoded));
      while (isTaken()) text = text.endsWith('Z') ? text.replace('Z', '0Z') : `${text}~`;
      table.set(text, encoded);
      (this.#puts[index] as (text: string) => void)(text);
    }
    return Object.fromEntries(table);
  }

  #filled<T extends object>(from: object, copy: T): T {
    for (const [key, item] of Object.entries(from)) {
      const put = (value: unknown) =>
        Object.defineProperty(copy, key, {
          ...{ value, enumerable: true, configurable: true, writable: true },
        });
      const json = this.take(item);
      put(json);
      if (json !== undefined) continue;
      this.#values.push(item);
      this.#puts.push(put);
    }
    return copy;
  }
}

/**
 * Splits fields into plain JSON, which other programs understand, and the exact values. A date
 * stands in the JSON as its ISO string; other values as their type and a hash, such as
 * `$map:0f3a8c21`. Each text stands for one content, wherever other programs move it, and no text
 * of the document equals it.
 *
 * @throws {ValueError} for a Blob.
 * @throws {TooLong}
 */
export function takeExact(fields: JsonObject): {
  readonly json: JsonObject;
  readonly exact: ExactValues | undefined;
} {
  const taken = new Taken();
  const json = taken.take(fields) as JsonObject;
  return { json, exact: taken.table() };
}

export interface RestoredValues {
  readonly document: JsonObject;
  /** What stands there for values that are gone, or have other content by now. */
  readonly lost: readonly string[];
  /** Whether it may have more levels than a document. */
  readonly isDeep: boolean;
}

class Restoring {
  readonly lost = new Set<string>();
  isDeep = false;
  readonly #table: ExactValues;
  /** The length of those that are whole. */
  readonly #lengths = new Map<string, number>();
  #length = 0;

  constructor(table: ExactValues) {
    this.#table = table;
    for (const [text, encoded] of Object.entries(table)) {
      const decoded = decodeExactValue(encoded);
      if (decoded && plain(text) === plain(standIn(decoded.value, encoded)))
        this.#lengths.set(text, JSON.stringify(encoded).length);
    }
  }

  restore(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return this.#valueOf(value);
    if (typeof value !== 'object' || value === null) return value;
    if (depth > FLAT_DEPTH) this.isDeep = true;
    if (depth === MAX_DEPTH) throw new Malformed('it is nested too deeply');
    if (Object.hasOwn(value, '__proto__')) throw new Malformed('it has the key __proto__');
    let copy: Record<string, unknown> | undefined;
    for (const [key, item] of Object.entries(value)) {
      const restored = this.restore(item, depth + 1);
      if (restored === item) continue;
      copy ??= (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
      copy[key] = restored;
    }
    return copy ?? value;
  }

  #valueOf(text: string): unknown {
    const length = this.#lengths.get(text);
    if (length !== undefined && this.#length + length <= MAX_LENGTH) {
      this.#length += length;
      // Two brackets for each level.
      if (length > 2 * FLAT_DEPTH) this.isDeep = true;
      return decodeExactValue(this.#table[text])?.value;
    }
    if (length !== undefined || STAND_IN.test(text) || Object.hasOwn(this.#table, text))
      this.lost.add(text);
    return text;
  }
}

/**
 * Puts exact values back wherever their texts are: other programs may have moved them, and what
 * these have replaced stays so.
 *
 * @param document Parsed JSON; it stays as it is.
 * @throws {Malformed} for a document that no collection can hold.
 */
export function restoreExact(document: JsonObject, exact: ExactValues): RestoredValues {
  const restoring = new Restoring(exact);
  const restored = restoring.restore(document, 0) as JsonObject;
  return { document: restored, lost: [...restoring.lost], isDeep: restoring.isDeep };
}

/** @returns `undefined` if it is damaged. */
export function decodeExactValue(encoded: unknown): { readonly value: unknown } | undefined {
  try {
    return decodeDocument({ _id: '', value: encoded }, '') as { value: unknown };
  } catch (error) {
    if (error instanceof Malformed) return undefined;
    throw error;
  }
}

/** What stands in the JSON for a value outside JSON. */
function standIn(value: unknown, encoded: unknown): string {
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
  const [type = ''] = isPlainObject(encoded) ? Object.keys(encoded) : [];
  return `${type}:${hashJson(encoded)}`;
}

/** Without what was added as the document itself had the same text. */
function plain(text: string): string {
  return text.replace(/0*Z$|~+$/, '');
}

function isJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
  return value === null || typeof value === 'boolean';
}

function hasHoles(array: readonly unknown[]): boolean {
  for (let index = 0; index < array.length; index++) if (!(index in array)) return true;
  return false;
}

/** A hash of JSON as text of eight digits, whatever the order of keys: servers do not keep it. */
export function hashJson(value: unknown): string {
  return (hashOf(value) >>> 0).toString(16).padStart(8, '0');
}

function hashOf(value: unknown): number {
  if (typeof value === 'string') return hashText(value);
  if (typeof value !== 'object' || value === null) return ~hashText(String(value));
  let hash = Array.isArray(value) ? 1 : 2;
  if (Array.isArray(value)) for (const item of value) hash = mix(hash) + hashOf(item);
  // A sum: the order does not matter.
  else
    for (const [key, item] of Object.entries(value)) hash += mix(hashText(key) + mix(hashOf(item)));
  return mix(hash);
}

/** The end of MurmurHash3. */
function mix(value: number): number {
  let hash = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

/**
 * Puts exact values back that an earlier version of Cairn has written: by their paths, where an ISO
 * string or the name of the type stands for each.
 *
 * @param isUntouched Whether no other program has written the document since: else a name that
 *   stands for several values could stand for any of them by now.
 */
export function restorePlaced(
  given: JsonObject,
  { paths, values }: JsonObject,
  isUntouched: boolean,
): RestoredValues {
  const document = structuredClone(given);
  if (!Array.isArray(paths) || !Array.isArray(values) || paths.length !== values.length)
    return { document, lost: [], isDeep: true };
  const lost = new Set<string>();
  const meanings = new Map<string, Set<string>>();
  for (const encoded of values) {
    const name = nameOf(encoded);
    meanings.set(name, (meanings.get(name) ?? new Set()).add(hashJson(encoded)));
  }
  for (const [index, path] of paths.entries()) {
    const place = Array.isArray(path) ? placeOf(document, path) : undefined;
    const name = nameOf(values[index]);
    if (place?.holder[place.key] !== name) continue;
    const decoded = decodeExactValue(values[index]);
    if (decoded && (isUntouched || meanings.get(name)?.size === 1))
      place.holder[place.key] = decoded.value;
    else lost.add(name);
  }
  return { document, lost: [...lost], isDeep: true };
}

/** What stands for a value. */
function nameOf(encoded: unknown): string {
  return standIn(decodeExactValue(encoded)?.value, encoded).replace(/:[0-9a-f]{8}$/, '');
}

/** The last step of a path, and the object or array that has it. */
function placeOf(
  document: JsonObject,
  path: readonly unknown[],
): { readonly holder: Record<string, unknown>; readonly key: string } | undefined {
  let holder: unknown = document;
  for (const [index, step] of path.entries()) {
    if (typeof holder !== 'object' || holder === null) return undefined;
    const key = String(step);
    if (!Object.hasOwn(holder, key)) return undefined;
    if (index === path.length - 1) return { holder: holder as Record<string, unknown>, key };
    holder = (holder as JsonObject)[key];
  }
  return undefined;
}
