import { StorageError } from '../errors/errors.ts';
import { isPlainObject } from './kinds.ts';

/** A value that JSON would not preserve, as a private deep copy. */
interface ExactBody {
  readonly exact: unknown;
}

/**
 * An encoded value: a JSON string where JSON preserves the value exactly, else a private copy of
 * the value.
 *
 * A value is encoded once, in the calling thread, then sent and stored in this form. A string is
 * the cheapest defensive copy: it is sent to a worker and written to IndexedDB several times faster
 * than an object. A private copy is never returned to callers and never changed.
 */
export type Body = string | ExactBody;

/** A decoded JSON value for a reader in the same thread, which copies it and never changes it. */
export interface DecodedBody {
  readonly decoded: unknown;
}

/**
 * Encodes a value that consists of encoded ones, which were checked. It is kept as it is: nobody
 * may change it any more.
 */
export function encodeMade(value: unknown): Body {
  return isJson(value) ? JSON.stringify(value) : { exact: value };
}

/** Whether JSON preserves a value that can be stored. */
function isJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value !== 'object') return typeof value === 'string' || typeof value === 'boolean';
  if (value === null) return true;
  const items = Object.values(value);
  const isWhole = Array.isArray(value) ? items.length === value.length : isPlainObject(value);
  return isWhole && items.every(isJson);
}

export function isDecoded(body: Body | DecodedBody): body is DecodedBody {
  return typeof body === 'object' && 'decoded' in body;
}

/**
 * Decodes a body for reading: the value must not be changed, nor returned to callers.
 *
 * @throws {StorageError} `data_damaged`
 */
export function peek(body: Body): unknown {
  return typeof body === 'string' ? parse(body) : body.exact;
}

/**
 * Turns a flat copy of decoded fields into a deep one. Up to ten times faster than parsing, as a
 * spread copies all fields of an object at once.
 */
export function copyHeld(fields: object, copy: object): object {
  for (const key in fields) {
    const field = (fields as Record<string, unknown>)[key];
    if (typeof field === 'object' && field !== null)
      (copy as Record<string, unknown>)[key] = copyDecoded(field);
  }
  return copy;
}

function copyDecoded(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? value.map(copyDecoded) : copyHeld(value, { ...value });
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw new StorageError(
      'data_damaged',
      `A stored document is damaged (${(cause as Error).message}). verify() lists the damage and the intact backups, loadBackup() restores one.`,
      { cause },
    );
  }
}
