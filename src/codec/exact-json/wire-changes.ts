import { Malformed } from '../../errors/errors.ts';
import { asString, type JsonObject } from './json-checks.ts';
import { decodeDocument, type WireDocument } from './wire-documents.ts';

/** A {@link ReadChange} as JSON. */
export interface WireChange {
  readonly id: string;
  readonly version: string;
  readonly key?: string;
  readonly document?: WireDocument;
  readonly deleted?: true;
  /** It is there, and no more in the scope. */
  readonly left?: true;
}

/** A change that was read, with its document as an app has it. */
export interface ReadChange {
  readonly id: string;
  readonly version: string;
  readonly key?: string;
  /** `undefined`: deleted, or no more in the scope. */
  readonly document: object | undefined;
  readonly left?: true;
}

/** @throws {Malformed} */
export function readChange(change: JsonObject): ReadChange {
  const id = asId(change.id);
  const wire = documentField(change);
  const { key } = change;
  return {
    id,
    version: asToken(change.version, '"version"'),
    document: wire === undefined ? undefined : decodeNamed(wire, id),
    ...(change.left === true && { left: true }),
    ...(key !== undefined && { key: asToken(key, '"key"') }),
  };
}

/** @throws {Malformed} */
export function decodeNamed(wire: unknown, id: string): object {
  try {
    return decodeDocument(wire, id);
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    throw new Malformed(`the document "${id.slice(0, 100)}" is damaged: ${error.message}`);
  }
}

/**
 * What versions, keys and checkpoints consist of: every store and every log takes them as they are.
 */
const TOKEN = /^[\x20-\x7e]{1,200}$/;

/** @throws {Malformed} unless it is 1 to 200 printable characters of ASCII. */
export function asToken(value: unknown, name: string): string {
  if (typeof value === 'string' && TOKEN.test(value)) return value;
  throw new Malformed(`${name} is not a string of 1 to 200 printable ASCII characters`);
}

/** @throws {Malformed} unless it is a non-empty string. */
export function asId(value: unknown): string {
  const id = asString(value, '"id"');
  if (id === '') throw new Malformed('"id" is empty');
  return id;
}

/** @throws {Malformed} unless it has either `document` or `"deleted": true`. */
export function documentField(message: JsonObject): unknown {
  const { document, deleted } = message;
  if (deleted === undefined && document !== undefined && document !== null) return document;
  if (deleted === true && document === undefined) return undefined;
  throw new Malformed('a row needs either "document" or "deleted": true');
}
