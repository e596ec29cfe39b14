import { decode, encode } from '../codec/capture.ts';
import type { KeyValueCollection } from '../page/collections/key-value-collection.ts';
import { ownFields, takeId } from '../page/sending/documents.ts';
import { ARCHIVED, UPDATED } from '../protocol/managed.ts';
import { type RecordState, stateOfDocument } from '../protocol/record-states.ts';
import type { CollectionSettings } from '../protocol/settings.ts';
import { STAMPS } from '../storage/segments/stored-record.ts';

/** A document as it travels: its own fields, `_id`, and the managed fields that say something. */
export type ReplicatedDocument = { readonly _id: string } & Readonly<Record<string, unknown>>;

/** Translates between records and documents of one type of collection. */
export interface StateCodec {
  toDocument(id: string, state: RecordState): ReplicatedDocument;
  /** @throws {ValueError} with the path of a value that cannot be stored. */
  toState(document: ReplicatedDocument): RecordState;
}

const documents: StateCodec = {
  toDocument(id, [flags, stamps, body]) {
    const managed: Record<string, unknown> = {};
    if (flags & UPDATED) managed._updated = true;
    if (flags & ARCHIVED) managed._archived = true;
    for (const { setting, place } of STAMPS) {
      const instant = stamps?.[place];
      if (instant) managed[`_${setting}_at`] = new Date(instant);
    }
    return { _id: id, ...managed, ...(decode(body) as object) };
  },
  toState(document) {
    takeId(document, 'document');
    return stateOfDocument(document, encode(ownFields(document), 'document'));
  },
};

/** A value is the field `value` of a document whose `_id` is the key. */
const keyValues: StateCodec = {
  toDocument: (id, [, , body]) => ({ _id: id, value: decode(body) }),
  toState: ({ value }) => [0, undefined, encode(value, 'value')],
};

export function stateCodec(type: CollectionSettings['type']): StateCodec {
  return type === 'DOCUMENT_BASED' ? documents : keyValues;
}

/**
 * What a collection replicates: the documents of a document collection, with their managed fields;
 * of keys and values `{ _id: key, value }`.
 */
export type ReplicatedOf<C> = C extends { insert(document: never): Promise<infer D extends object> }
  ? D
  : C extends KeyValueCollection<infer V>
    ? { readonly _id: string; readonly value: V }
    : object;
