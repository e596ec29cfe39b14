import { CairnError, Malformed } from '../../errors/errors.ts';
import { capture } from '../capture.ts';
import { fromBase64, toBase64 } from './base64.ts';
import { type BinarySource, decodeExact } from './exact-decoding.ts';
import { type Binary, encodeExactTree, notText } from './exact-encoding.ts';
import { asString } from './json-checks.ts';
import { isPlainJson } from './plain-json.ts';

/**
 * A document as JSON: values outside JSON have the wrappers of codec/exact-json, bytes within as
 * base64.
 */
export type WireDocument = Readonly<Record<string, unknown>> & { readonly _id: string };

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
  if (typeof wire !== 'object' || wire === null || Array.isArray(wire))
    throw new Malformed('it is no object');
  if (!Object.hasOwn(wire, '_id') || (wire as WireDocument)._id !== id)
    throw new Malformed('its _id is not the id');
  return isPlainJson(wire) ? wire : decodeChecked(wire);
}

/** One with wrappers, or nested deeply: only decoding shows whether it is whole. */
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
