import type { Coroutine } from '../async/coroutine.ts';
import type { Body } from '../codec/body.ts';
import { decode, encode } from '../codec/capture.ts';
import { isPlainObject } from '../codec/kinds.ts';
import type { KeyValueChange } from '../protocol/key-value-protocol.ts';
import type { DocumentBuilder } from '../protocol/managed.ts';
import type { RequestFlags, Selection } from '../protocol/requests.ts';
import { parseKey } from '../query/path/key-path.ts';
import { getAt } from '../query/path/value-path.ts';
import { MANAGED_FIELDS } from '../storage/segments/stored-record.ts';
import type { EncodedChanges } from './calls/check-update.ts';
import { CollectionSchema, named, schemaFailed } from './sending/collection-schema.ts';
import { type ListedDocuments, sendSlices } from './sending/document-slices.ts';
import {
  type EncodedDocument,
  encodeFields,
  ownFields,
  takeId,
  toDocument,
} from './sending/documents.ts';
import { exclusively, pause, post, replyOf, request, type Sender } from './sending/sender.ts';
import { type AtomicCall, runCallAtomically } from './transactions/run-transaction.ts';

/** Runs a call of several requests all or none. */
export function atomically<T>(call: AtomicCall<T>): Promise<T> {
  return runCallAtomically(call);
}

/** Documents that are read, checked and encoded in one turn of the event loop. */
const SLICE = 200;

/**
 * Passes documents through the schema of their collection. Its code loads with the first such
 * collection. docs/decisions/034-schemas.md has the reasons.
 */
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

  protected override importedBody(body: Body): Body {
    return encode(this.fields(decode(body) as object, 'document'), 'document');
  }

  protected override passReplicated(document: object): void {
    this.fields(ownFields(document), 'document');
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
    changes: EncodedChanges & Pick<Selection, 'criteria' | 'collation'>,
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
    yield* sendSlices(sender, listed, changes);
    return listed.ids.length;
  }
}

/**
 * Passes the values of records through the schema of their collection. Its code loads with the
 * first such collection.
 */
export class ValueSchema extends CollectionSchema {
  /** @throws {ValueError} `schema_violation`; {OptionError} `schema_failed` */
  encode(value: unknown): Body {
    return encode(this.check(value, 'value'), 'value');
  }

  protected override importedBody(body: Body): Body {
    return this.encode(decode(body));
  }

  /** A value travels as the field `value` of a document. */
  protected override passReplicated({ value }: { readonly value?: unknown }): void {
    this.check(value, 'value');
  }

  /**
   * Makes a change inside of a record whose whole value the schema accepts then. Starts again when
   * somebody was quicker.
   *
   * @returns the value at the key after it; of a delete, whether there was one.
   */
  *change(sender: Sender, change: KeyValueChange, flags?: RequestFlags): Coroutine<unknown> {
    return yield* exclusively(sender, (alone) => this.#change(alone, change, flags));
  }

  *#change(sender: Sender, change: KeyValueChange, flags?: RequestFlags): Coroutine<unknown> {
    for (;;) {
      const made = yield* this.changeOnce(sender, change, undefined, flags);
      if (made) return made.value;
    }
  }

  /**
   * @param expected The version of the record that the change derives from.
   * @returns `undefined` if the record has another version.
   */
  *changeOnce(
    sender: Sender,
    change: KeyValueChange,
    expected?: number,
    flags?: RequestFlags,
  ): Coroutine<{ readonly value: unknown } | undefined> {
    const [name, ...path] = parseKey(change.key);
    const isDelete = change.op === 'kvDelete';
    const preview = { op: 'kvPreview', change, ...flags } as const;
    const { reply, body, version } = yield* request(sender, preview);
    if (expected !== undefined && version !== expected) return undefined;
    // Nothing to remove or delete.
    if (!body) return { value: isDelete ? reply : decode(reply as Body) };
    const root = this.encode(decode(body));
    const replacing = { op: 'kvReplace', key: [name], body: root, version } as const;
    if (!(yield* request(sender, replacing))) return undefined;
    return { value: isDelete || getAt(decode(root), path) };
  }
}
