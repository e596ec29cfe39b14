import { decodeDocument, encodeDocument } from '../codec/exact-json/wire-documents.ts';
import { Malformed } from '../errors/errors.ts';
import { ReplicationError } from '../errors/replication-error.ts';

/**
 * A document as plain JSON, for an adapter of your own: what JSON lacks becomes an object such as
 * `{ $date: 0 }`.
 *
 * @throws {ValueError} for a Blob.
 *
 * @example
 * ```ts
 * const asJson = (row) => ({ ...row, document: row.document && toJson(row.document) });
 * const body = JSON.stringify(rows.map(asJson));
 * ```
 */
export function toJson(document: object): object {
  return encodeDocument(document);
}

/**
 * The document of {@link toJson}.
 *
 * @param json Parsed; it may be of anybody.
 * @throws {ReplicationError} `answer_invalid`
 */
export function fromJson(json: unknown): object {
  const { _id: id } = (json ?? {}) as { readonly _id?: unknown };
  try {
    if (typeof id !== 'string') throw new Malformed('its _id is no string');
    return decodeDocument(json, id);
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    throw new ReplicationError(
      'answer_invalid',
      `The document "${String(id)}" is not understood: ${error.message}.`,
      { place: String(id), cause: error },
    );
  }
}
