import { type Body, copyHeld, type DecodedBody, isDecoded } from '../../codec/body.ts';
import { decode, encodeAndCopy } from '../../codec/capture.ts';
import { isPlainObject } from '../../codec/kinds.ts';
import { ValueError } from '../../errors/errors.ts';
import type { ListPart } from '../../protocol/live-protocol.ts';
import type { DocumentBuilder, ManagedColumns } from '../../protocol/managed.ts';
import type { RecordReply } from '../../protocol/requests.ts';
import { MANAGED_FIELDS, type Stamps } from '../../storage/segments/stored-record.ts';
import { checkId } from './call-arguments.ts';

/** Makes the documents of a live query, in the place of its list. */
export interface LiveDocuments {
  ofPart(part: ListPart, index: number): object;
  /** One that the engine has projected. */
  ofWhole?(part: ListPart, index: number): object;
}

export interface EncodedDocument {
  /** The caller's `_id`. */
  readonly id: string | undefined;
  readonly body: Body;
  /** A copy of its own fields, for the returned document. */
  readonly fields: object;
}

/**
 * Encodes a document without its managed fields, so that callers can change a found document and
 * store it.
 *
 * @param place Name of the document in errors.
 * @throws {ValueError} with the path of a value that cannot be stored.
 */
export function encodeGiven(document: unknown, place: string): EncodedDocument {
  const id = takeId(document, place);
  return encodeFields(id, ownFields(document as object), place);
}

/** The caller's `_id` of a document. @throws {ValueError} `document_invalid`, `id_invalid` */
export function takeId(document: unknown, place: string): string | undefined {
  if (!isPlainObject(document)) {
    throw new ValueError('document_invalid', `${place} must be a plain object.`, { place });
  }
  const { _id: id } = document as { _id?: unknown };
  if (id !== undefined && Object.hasOwn(document, '_id')) checkId(id, `${place}._id`);
  return id as string | undefined;
}

export function encodeFields(
  id: string | undefined,
  fields: object,
  place: string,
): EncodedDocument {
  const { body, copy } = encodeAndCopy(fields, place);
  return { id, body, fields: copy as object };
}

export function toDocument(
  build: DocumentBuilder,
  [key, flags, stamps, body]: RecordReply,
): object {
  return buildFrom(build, key, flags, stamps, body);
}

export function buildFrom(
  build: DocumentBuilder,
  key: string,
  flags: number,
  stamps: Stamps | undefined,
  body: Body | DecodedBody,
): object {
  if (!isDecoded(body)) return build(key, flags, stamps, decode(body) as object);
  const fields = body.decoded as object;
  // `build` copies the fields, not the objects in them.
  return copyHeld(fields, build(key, flags, stamps, fields));
}

export function documentAt(
  build: DocumentBuilder,
  { keys, flags, stamps }: ManagedColumns,
  index: number,
  fields: object,
): object {
  return build(keys[index] as string, flags[index] as number, stamps?.[index], fields);
}

/** A document without its managed fields. */
export function ownFields(document: object): object {
  // Hot path of inserts: unlike `Object.keys`, `for in` makes no list.
  for (const key in document) {
    if (key[0] === '_' && MANAGED_FIELDS.has(key)) return withoutManaged(document);
  }
  return document;
}

/** What encoding refuses, a symbol or `__proto__`, stays in for that. */
function withoutManaged(document: object): object {
  if (Object.getOwnPropertySymbols(document).length > 0) return document;
  // Hot path of inserts that bring their ids: `Object.fromEntries` takes five times as long.
  const own: Record<string, unknown> = {};
  for (const key of Object.keys(document)) {
    if (key === '__proto__') return document;
    if (!MANAGED_FIELDS.has(key)) own[key] = (document as Record<string, unknown>)[key];
  }
  return own;
}
