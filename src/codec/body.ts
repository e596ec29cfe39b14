import { StorageError } from '../errors/errors.ts';
import { type Captured, capture, copy } from './capture.ts';

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
 * Checks, copies and encodes a value in one step.
 *
 * @param root Name of the value in errors, such as `document`.
 * @param takesBases As in {@link capture}.
 * @throws {ValueError} with the path of a value that cannot be stored.
 */
export function encode(value: unknown, root: string, takesBases = false): Body {
  return encodeCaptured(capture(value, root, takesBases));
}

/** Encodes a value and returns a copy for the caller: cheaper than decoding the body. */
export function encodeAndCopy(value: unknown, root: string): { body: Body; copy: unknown } {
  const captured = capture(value, root);
  const body = encodeCaptured(captured);
  return { body, copy: typeof body === 'string' ? captured.copy : copy(captured.copy) };
}

/** Encodes a private copy, which nobody may change any more unless it becomes a string. */
export function encodeCaptured({ copy: captured, json }: Captured): Body {
  return json ? JSON.stringify(captured) : { exact: captured };
}

/**
 * Decodes a body to a copy for the caller.
 *
 * @throws {StorageError} `data_damaged`
 */
export function decode(body: Body): unknown {
  return typeof body === 'string' ? parse(body) : copy(body.exact);
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
