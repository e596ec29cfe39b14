import {
  type Body,
  copyHeld,
  type DecodedBody,
  decode,
  encodeAndCopy,
  isDecoded,
} from '../../codec/body.ts';
import { isPlainObject } from '../../codec/kinds.ts';
import type { DocumentBuilder } from '../../engine/protocol/managed.ts';
import type { ManagedColumns, RecordReply } from '../../engine/protocol/requests.ts';
import { ValueError } from '../../errors/value-error.ts';
import { MANAGED_FIELDS } from '../../storage/segments/managed-fields.ts';
import type { Stamps } from '../../storage/segments/stored-record.ts';
import { checkId } from '../calls/item-checks.ts';

/** A caller's document, ready to be sent. */
export interface EncodedDocument {
  /** The `_id` it came with. */
  readonly id: string | undefined;
  readonly body: Body;
  /** A copy of its own fields, for the document that the caller gets back. */
  readonly fields: object;
}

/**
 * Encodes a document without its managed fields, so that one that was found can be changed and handed back.
 *
 * @param place What errors call it.
 * @throws {ValueError} naming the path of what cannot be stored.
 */
export function encodeDocument(document: unknown, place: string): EncodedDocument {
  if (!isPlainObject(document)) {
    throw new ValueError('document_invalid', `${place} must be a plain object.`, { place });
  }
  const { _id: id } = document as { _id?: unknown };
  if (id !== undefined && Object.hasOwn(document, '_id')) checkId(id, `${place}._id`);
  const { body, copy } = encodeAndCopy(ownFields(document), place);
  return { id: id as string | undefined, body, fields: copy as object };
}

export function toDocument(
  build: DocumentBuilder,
  [key, flags, stamps, body]: RecordReply,
): object {
  return buildFrom(build, key, flags, stamps, body);
}

/** Builds a document of a body that has arrived. */
export function buildFrom(
  build: DocumentBuilder,
  key: string,
  flags: number,
  stamps: Stamps | undefined,
  body: Body | DecodedBody,
): object {
  if (!isDecoded(body)) return build(key, flags, stamps, decode(body) as object);
  const fields = body.decoded as object;
  // Building copies the fields, not what they hold.
  return copyHeld(fields, build(key, flags, stamps, fields));
}

/** The document at a place in the columns. */
export function documentAt(
  build: DocumentBuilder,
  { keys, flags, stamps }: ManagedColumns,
  index: number,
  fields: object,
): object {
  return build(keys[index] as string, flags[index] as number, stamps?.[index], fields);
}

function ownFields(document: object): object {
  // `for in` and not `Object.keys`: no list is made, and this is done for each document that goes in.
  for (const key in document) {
    if (key[0] === '_' && MANAGED_FIELDS.has(key)) return withoutManaged(document);
  }
  return document;
}

function withoutManaged(document: object): object {
  return Object.fromEntries(Object.entries(document).filter(([key]) => !MANAGED_FIELDS.has(key)));
}
