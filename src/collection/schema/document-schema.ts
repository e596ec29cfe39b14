import { type Body, decode, encode } from '../../codec/body.ts';
import { isPlainObject } from '../../codec/kinds.ts';
import type { DocumentBuilder } from '../../engine/protocol/managed.ts';
import { type Coroutine, wait } from '../../engine/scheduling/coroutine.ts';
import { MANAGED_FIELDS } from '../../storage/segments/managed-fields.ts';
import { pause, post, replyOf, type Sender } from '../calls/sender.ts';
import {
  type EncodedDocument,
  encodeFields,
  ownFields,
  takeId,
  toDocument,
} from '../find/documents.ts';
import { type ListedDocuments, sendSlices } from '../insert/document-slices.ts';
import { runCallAtomically } from '../transaction/run-call-atomically.ts';
import type { EncodedChanges } from '../update/encode-changes.ts';
import { CollectionSchema, named } from './collection-schema.ts';
import { schemaFailed } from './schema-check.ts';

/** Documents that are read, checked and encoded in one turn of the event loop. */
const SLICE = 200;

/** Passes documents through the schema of their collection. Its code loads with the first such collection. */
export class DocumentSchema extends CollectionSchema {
  /**
   * Passes a document through the schema, without its managed fields, and encodes the output.
   *
   * @throws {ValueError} `schema_violation`; {OptionError} `schema_failed`
   */
  encode(document: unknown, place: string): EncodedDocument {
    const id = takeId(document, place);
    return encodeFields(id, this.fields(ownFields(document as object), place), place);
  }

  /** The own fields of a document, as they are to be stored. */
  fields(fields: object, place: string): object {
    const output = this.check(fields, place);
    if (!isPlainObject(output)) throw schemaFailed('returned no document, which is a plain object');
    for (const key in output) {
      if (key[0] !== '_' || !MANAGED_FIELDS.has(key) || output[key] === undefined) continue;
      throw schemaFailed(
        `returned the managed field ${key}: such fields do not pass through it, so leave them out`,
      );
    }
    // An optional managed field that no document has.
    return ownFields(output);
  }

  /** Passes imported documents through the schema. */
  protected override importedBody(body: Body): Body {
    return encode(this.fields(decode(body) as object, 'document'), 'document');
  }

  protected override passReplicated(document: object): void {
    this.fields(ownFields(document), 'document');
  }

  /** Runs a call of several requests all or none. */
  *atomically<T>(
    sender: Sender,
    collection: string,
    start: (atomic: Sender) => Coroutine<T>,
  ): Coroutine<T> {
    const { client } = sender;
    if (!client) return yield* start(sender);
    return yield* wait(runCallAtomically({ ...client, collection, start }));
  }

  /**
   * Patches the documents with these ids, all or none. The sender's requests are atomic.
   *
   * @param encode Passes a document through the schema and all other checks.
   * @returns how many there are.
   */
  *patchAll(
    sender: Sender,
    ids: readonly string[],
    changes: EncodedChanges,
    build: DocumentBuilder,
    encode: (document: unknown, place: string) => EncodedDocument,
  ): Coroutine<number> {
    const listed: ListedDocuments = { ids: [], bodies: [] };
    for (let from = 0; from < ids.length; from += SLICE) {
      const slice = ids.slice(from, from + SLICE);
      const replies = slice.map((id) => post(sender, { op: 'getVersion', id, ...changes }));
      for (const [index, reply] of replies.entries()) {
        const id = slice[index] as string;
        const found = yield* replyOf(reply);
        if (!found) continue;
        listed.ids.push(id);
        const document = toDocument(build, found.record);
        listed.bodies.push(named(id, () => encode(document, 'document')).body);
      }
      yield* pause(sender);
    }
    yield* sendSlices(sender, listed);
    return listed.ids.length;
  }
}
