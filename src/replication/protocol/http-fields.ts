import { asString, type JsonObject, Malformed } from '../../codec/exact-json/json-checks.ts';

/** Most rows of one push. */
export const MAX_ROWS = 1000;
/** Most changes of one pull. */
export const MAX_LIMIT = 1000;
/** Changes of one pull that names no limit. */
export const DEFAULT_LIMIT = 500;
/** The type of a long page: one change a line, and a last line with the checkpoint. */
export const LONG_PAGE_TYPE = 'application/x-ndjson';
/**
 * The same, compressed. No `Content-Encoding`: a browser would hand all of the text from process to
 * process, at half the speed.
 */
export const PACKED_PAGE_TYPE = 'application/x-ndjson+gzip';
/** Bytes after which a long page ends, and most changes of one. */
export const LONG_PAGE_BYTES = 2_000_000;
export const LONG_PAGE_CHANGES = 20_000;
/** UTF-8 bytes of the longest id: Postgres refuses keys of an index over 2,700 bytes. */
export const MAX_ID_BYTES = 1500;

/** Bytes of a part of a file: the most that is sent, and in memory, at once. */
export const PART_BYTES = 1024 * 1024;

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

/** Whether an id is longer than a server takes. */
export function isIdTooLong(id: string): boolean {
  if (id.length * 3 <= MAX_ID_BYTES) return false;
  return id.length > MAX_ID_BYTES || new TextEncoder().encode(id).length > MAX_ID_BYTES;
}

/** @throws {Malformed} unless it has either `document` or `"deleted": true`. */
export function documentField(message: JsonObject): unknown {
  const { document, deleted } = message;
  if (deleted === undefined && document !== undefined && document !== null) return document;
  if (deleted === true && document === undefined) return undefined;
  throw new Malformed('a row needs either "document" or "deleted": true');
}
