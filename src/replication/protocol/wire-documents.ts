import { capture } from '../../codec/capture.ts';
import { fromBase64, toBase64 } from '../../codec/exact-json/base64.ts';
import { type BinarySource, decodeExact } from '../../codec/exact-json/exact-decoding.ts';
import { type Binary, encodeExactTree, notText } from '../../codec/exact-json/exact-encoding.ts';
import { asString, Malformed } from '../../codec/exact-json/json-checks.ts';
import { CairnError } from '../../errors/errors.ts';

/**
 * A document as JSON: values outside JSON have the wrappers of codec/exact-json, bytes within as
 * base64.
 */
export type WireDocument = Readonly<Record<string, unknown>> & { readonly _id: string };

/** Deepest nesting that needs no decoding: documents may have 500 levels. */
const PLAIN_DEPTH = 400;

/** Deepest nesting of JSON: a document has up to 500 levels, and a Map takes three for each. */
const MAX_WIRE_DEPTH = 1600;

/** Longest JSON of a document, in characters; a server may accept less. */
const MAX_WIRE_LENGTH = 32 * 1024 * 1024;

/**
 * @param document Checked by codec/capture.ts; its `_id` is a string.
 * @throws {ValueError} for a Blob, whose content cannot be read synchronously, a key or a handle.
 * @throws {TooLong}
 */
export function encodeDocument(document: object): WireDocument {
  return encodeExactTree(document, MAX_WIRE_LENGTH, bytesAsText) as WireDocument;
}

function bytesAsText(binary: Binary): string {
  if (binary instanceof Uint8Array) return toBase64(binary);
  throw notText(binary);
}

/**
 * Decodes a document of the other side, which may be hostile.
 *
 * @param wire Parsed JSON; the result may be the very object.
 * @throws {Malformed} with the defect as a clause.
 */
export function decodeDocument(wire: unknown, id: string): object {
  const defect = shapeDefect(wire, id);
  if (typeof defect === 'string') throw new Malformed(defect);
  return defect === MARKED ? decodeChecked(wire) : (wire as object);
}

/**
 * Whether fields of the other side need no decoding.
 *
 * @throws {Malformed} with the defect as a clause.
 */
export function isPlainJson(fields: object): boolean {
  const found = { marks: false };
  walk(fields, 0, found);
  return !found.marks;
}

/** The defect of a document of the other side, as a clause; `undefined` if it is whole. */
export function documentDefect(wire: unknown, id: string): string | undefined {
  const defect = shapeDefect(wire, id);
  if (defect !== MARKED) return defect;
  try {
    decodeChecked(wire);
    return undefined;
  } catch (error) {
    return error instanceof Malformed ? error.message : 'it cannot be decoded';
  }
}

/** The document has wrappers, or may be too deep: only decoding shows whether it is whole. */
const MARKED = Symbol('marked');

function shapeDefect(wire: unknown, id: string): string | typeof MARKED | undefined {
  if (typeof wire !== 'object' || wire === null || Array.isArray(wire)) return 'it is no object';
  if (!Object.hasOwn(wire, '_id') || (wire as WireDocument)._id !== id)
    return 'its _id is not the id';
  try {
    return isPlainJson(wire) ? undefined : MARKED;
  } catch (error) {
    if (error instanceof Malformed) return error.message;
    throw error;
  }
}

/** Bounds the recursion of everything that reads the document later. */
function walk(value: unknown, depth: number, found: { marks: boolean }): void {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new Malformed('it has a number that is too large'); // JSON.parse of 1e999
  }
  if (typeof value !== 'object' || value === null) return;
  if (depth === MAX_WIRE_DEPTH) throw new Malformed('it is nested too deeply');
  if (depth === PLAIN_DEPTH) found.marks = true;
  if (Array.isArray(value)) {
    for (const item of value) walk(item, depth + 1, found);
    return;
  }
  let keys = 0;
  let last = '';
  // Hot path of first pulls: unlike `Object.keys`, `for in` makes no list.
  for (const key in value) {
    // Not what another script has added to `Object.prototype`.
    if (!Object.hasOwn(value, key)) continue;
    if (key === '__proto__') throw new Malformed('it has the key __proto__');
    keys++;
    last = key;
    const inner = (value as Record<string, unknown>)[key];
    if (typeof inner !== 'string') walk(inner, depth + 1, found);
  }
  if (keys === 1 && last.startsWith('$')) found.marks = true;
}

function decodeChecked(wire: unknown): object {
  try {
    return capture(decodeExact(wire, textAsBytes), 'document').copy as object;
  } catch (error) {
    if (error instanceof Malformed) throw error;
    throw new Malformed(error instanceof CairnError ? error.message : 'it cannot be decoded');
  }
}

const textAsBytes: BinarySource = {
  takeBytes: (text) => fromBase64(asString(text, '"bytes"')),
  takeParts: () => {
    throw new Malformed('it has a Blob');
  },
};
