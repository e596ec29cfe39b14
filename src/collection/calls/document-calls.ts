import { type Body, encodeCaptured } from '../../codec/body.ts';
import { capture } from '../../codec/capture.ts';
import { isPlainObject } from '../../codec/kinds.ts';
import { documentBuilder } from '../../engine/protocol/managed.ts';
import type { Explained, ManagedColumns } from '../../engine/protocol/requests.ts';
import type { CollectionSettings } from '../../engine/protocol/settings.ts';
import type { Coroutine } from '../../engine/scheduling/coroutine.ts';
import { ValueError } from '../../errors/value-error.ts';
import type { Stamp, Stored } from '../document-types.ts';
import { type Build, DocumentStream } from '../find/document-stream.ts';
import { documentAt, type EncodedDocument, encodeDocument, toDocument } from '../find/documents.ts';
import { type FindQuery, parseFindQuery, parseMatchQuery } from '../find/find-query.ts';
import { holdsPattern } from '../find/holds-pattern.ts';
import { checkUpdate } from '../update/check-update.ts';
import { ModifyAttempts, modifyTurnsOf } from '../update/modify-attempts.ts';
import type { CallOrder } from './call-order.ts';
import { CommonCalls } from './common-calls.ts';
import { checkId } from './item-checks.ts';
import { pause, post, replyOf, request, type Sender } from './sender.ts';

/**
 * Characters of documents that `insertMany` encodes in one turn of the event loop: about 5 ms of work. Browsers reuse
 * message buffers up to this size.
 */
const SLICE_SIZE = 384 * 1024;

/** Assumed size of a document that JSON cannot hold: it takes longer than a string of its size. */
const EXACT_SIZE = 4096;

/** A part of a long list, and its reply. */
interface Slice {
  readonly fields: object[];
  readonly reply: ReturnType<typeof post<'insertPart'>>;
}

/** The calls of a document collection, asynchronous and synchronous. */
export class DocumentCalls<T extends object, S extends Stamp = never> extends CommonCalls {
  readonly #build: Build<T, S>;
  readonly #order: CallOrder;

  constructor(settings: CollectionSettings, order: CallOrder) {
    super();
    this.#order = order;
    this.#build = documentBuilder(settings) as never;
  }

  *insert(sender: Sender, document: unknown): Coroutine<Stored<T, S>> {
    const { id, body, fields } = encodeDocument(document, 'document');
    const [key, flags, stamps] = yield* request(sender, { op: 'insert', id, body });
    return this.#build(key, flags, stamps, fields);
  }

  *insertMany(sender: Sender, documents: unknown): Coroutine<Stored<T, S>[]> {
    const slices = yield* this.#sendSlices(sender, documents, 'insertMany');
    const stored: Stored<T, S>[] = [];
    for (const { fields, reply } of slices) {
      const columns = yield* replyOf(reply);
      for (let index = 0; index < fields.length; index++) {
        const own = fields[index] as object;
        stored.push(documentAt(this.#build, columns, index, own) as Stored<T, S>);
      }
      if (slices.length > 8) yield* pause(sender);
    }
    return stored;
  }

  *upsertMany(sender: Sender, documents: unknown): Coroutine<Stored<T, S>[]> {
    const slices = yield* this.#sendSlices(sender, documents, 'upsertMany');
    // The last reply has the managed values of all documents.
    let columns!: ManagedColumns;
    for (const { reply } of slices) columns = yield* replyOf(reply);
    const stored: Stored<T, S>[] = [];
    for (const { fields } of slices) {
      for (const own of fields)
        stored.push(documentAt(this.#build, columns, stored.length, own) as Stored<T, S>);
      if (slices.length > 8) yield* pause(sender);
    }
    return stored;
  }

  /** Encodes and sends a list in slices, which take effect with the last. */
  *#sendSlices(
    sender: Sender,
    documents: unknown,
    method: 'insertMany' | 'upsertMany',
  ): Coroutine<Slice[]> {
    if (!Array.isArray(documents)) {
      throw new ValueError('document_invalid', `${method} takes an array of documents.`, {
        place: 'documents',
      });
    }
    const upsert = method === 'upsertMany';
    // Copies the list: later slices are encoded in later turns.
    const list: unknown[] = [...documents];
    const slices: Slice[] = [];
    const call = Math.random();
    try {
      for (let from = 0, last = false; !last; ) {
        const { ids, bodies, fields } = encodeSlice(list, from);
        last = from + bodies.length >= list.length;
        const reply = post(sender, { op: 'insertPart', call, from, last, ids, bodies, upsert });
        from += bodies.length;
        slices.push({ fields, reply });
        if (!last) yield* pause(sender);
      }
    } catch (error) {
      if (slices.length > 0) post(sender, { op: 'insertAbandon', call });
      throw error;
    }
    return slices;
  }

  *upsert(sender: Sender, document: unknown): Coroutine<Stored<T, S>> {
    const { id, body, fields } = encodeDocument(document, 'document');
    const [key, flags, stamps] = yield* request(sender, { op: 'upsert', id, body });
    return this.#build(key, flags, stamps, fields);
  }

  *update(sender: Sender, id: unknown, document: unknown): Coroutine<Stored<T, S> | undefined> {
    checkId(id);
    // An `_id` in the new content is ignored, like any managed field.
    const { body, fields } = encodeDocument(withoutId(document), 'document');
    const reply = yield* request(sender, { op: 'update', id, body });
    return reply && this.#build(reply[0], reply[1], reply[2], fields);
  }

  *patch(sender: Sender, id: unknown, changes: unknown): Coroutine<Stored<T, S> | undefined> {
    checkId(id);
    const reply = yield* request(sender, { op: 'patch', id, ...encodeChanges(changes) });
    return reply && (toDocument(this.#build, reply.record) as Stored<T, S>);
  }

  *patchMany(
    sender: Sender,
    params: unknown,
    changes: unknown,
    options?: unknown,
  ): Coroutine<number> {
    const query = parseMatchQuery(params, options);
    const encoded = encodeChanges(changes);
    const mayHang = query.selection.mayHang ?? encoded.mayHang;
    const found = query.test ? { ids: yield* this.#idsOf(sender, query) } : query.selection;
    const ask = { op: 'patchMany', ...found, ...encoded, mayHang } as const;
    return (yield* request(sender, ask)).count;
  }

  /** Replaces a document by what a function makes of it, which runs again when somebody was quicker. */
  *modify(
    sender: Sender,
    id: unknown,
    change: unknown,
    options?: unknown,
  ): Coroutine<Stored<T, S> | undefined> {
    checkId(id);
    const attempts = new ModifyAttempts(sender, change, options, id);
    const start = () => this.#replace(id, attempts);
    return yield* attempts.inTurn(modifyTurnsOf(this.#order), id, start);
  }

  *#replace(id: string, attempts: ModifyAttempts): Coroutine<Stored<T, S> | undefined> {
    const { sender } = attempts;
    for (;;) {
      const found = yield* request(sender, { op: 'getVersion', id });
      if (!found) return undefined;
      const { record, version } = found;
      const changed = yield* attempts.run(toDocument(this.#build, record));
      if (changed === undefined) return toDocument(this.#build, record) as Stored<T, S>;
      const { body, fields } = encodeDocument(withoutId(changed), 'document');
      const reply = yield* request(sender, { op: 'replaceIf', id, body, version });
      if (reply) return this.#build(reply[0], reply[1], reply[2], fields);
    }
  }

  *archive(sender: Sender, id: unknown): Coroutine<boolean> {
    checkId(id);
    return (yield* request(sender, { op: 'archive', id })) !== false;
  }

  *unarchive(sender: Sender, id: unknown): Coroutine<boolean> {
    checkId(id);
    return (yield* request(sender, { op: 'unarchive', id })) !== false;
  }

  *delete(sender: Sender, id: unknown): Coroutine<boolean> {
    checkId(id);
    return yield* request(sender, { op: 'delete', id });
  }

  *deleteMany(sender: Sender, params: unknown, options?: unknown): Coroutine<number> {
    const query = parseMatchQuery(params, options);
    if (!query.test) return yield* request(sender, { op: 'deleteMany', ...query.selection });
    return yield* request(sender, { op: 'deleteMany', ids: yield* this.#idsOf(sender, query) });
  }

  *get(sender: Sender, id: unknown): Coroutine<Stored<T, S> | undefined> {
    checkId(id);
    const reply = yield* request(sender, { op: 'get', id });
    return reply && (toDocument(this.#build, reply) as Stored<T, S>);
  }

  *getMany(sender: Sender, ids: unknown): Coroutine<(Stored<T, S> | undefined)[]> {
    if (!Array.isArray(ids))
      throw new ValueError('id_invalid', 'getMany takes an array of ids.', { place: 'ids' });
    const list: unknown[] = [...ids];
    for (const [index, id] of list.entries()) checkId(id, `ids[${index}]`);
    const replies = yield* request(sender, { op: 'getMany', ids: list as string[] });
    return replies.map((reply) => reply && (toDocument(this.#build, reply) as Stored<T, S>));
  }

  *find<F = Stored<T, S>>(
    sender: Sender,
    params: unknown,
    options?: unknown,
  ): Coroutine<F | undefined> {
    const [first] = yield* this.#collect<F>(sender, parseFindQuery(params, options, 1));
    return first;
  }

  *filter<F = Stored<T, S>>(sender: Sender, params: unknown, options?: unknown): Coroutine<F[]> {
    return yield* this.#collect<F>(sender, parseFindQuery(params, options));
  }

  *has(sender: Sender, params: unknown, options?: unknown): Coroutine<boolean> {
    return (yield* this.find(sender, params, options)) !== undefined;
  }

  *count(sender: Sender, params: unknown = {}, options?: unknown): Coroutine<number> {
    const query = parseFindQuery(params, options);
    if (!query.test) return yield* request(sender, { op: 'count', ...query.selection });
    return (yield* this.#collect(sender, { ...query, select: ['_id'] })).length;
  }

  *explain(sender: Sender, params: unknown, options?: unknown): Coroutine<Explained> {
    return yield* request(sender, { op: 'explain', ...parseFindQuery(params, options).selection });
  }

  /** A stream of the documents that match. */
  stream(params: unknown, options?: unknown): DocumentStream<T, S> {
    const query = parseFindQuery(params, options);
    // The reader may stop at any document.
    const selection = { ...query.selection, all: false };
    return new DocumentStream(this.#build, { ...query, selection });
  }

  *#idsOf(sender: Sender, query: FindQuery): Coroutine<string[]> {
    return (yield* this.#collect(sender, { ...query, select: ['_id'] })).map(({ _id }) => _id);
  }

  *#collect<F = Stored<T, S>>(sender: Sender, query: FindQuery): Coroutine<F[]> {
    const documents: F[] = [];
    const stream = new DocumentStream(this.#build, query);
    try {
      for (;;) {
        const chunk = yield* stream.read(sender);
        if (!chunk) return documents;
        for (const document of chunk) documents.push(document as F);
      }
    } finally {
      stream.end(sender);
    }
  }
}

function encodeSlice(list: readonly unknown[], from: number) {
  const bodies: Body[] = [];
  const ids: (string | undefined)[] = [];
  const fields: object[] = [];
  let size = 0;
  for (let index = from; index < list.length && size < SLICE_SIZE; index++) {
    const encoded = encodeListed(list, index);
    bodies.push(encoded.body);
    ids.push(encoded.id);
    fields.push(encoded.fields);
    size += typeof encoded.body === 'string' ? encoded.body.length : EXACT_SIZE;
  }
  return { bodies, fields, ids: ids.some((id) => id !== undefined) ? ids : undefined };
}

function encodeListed(list: readonly unknown[], index: number): EncodedDocument {
  try {
    return encodeDocument(list[index], 'documents[]');
  } catch {
    // Only a refused document needs its index in errors: building the text costs time.
    return encodeDocument(list[index], `documents[${index}]`);
  }
}

/** Checks and encodes the changes of a patch. */
function encodeChanges(changes: unknown) {
  // Of a copy: a getter may give another value each time.
  const captured = isPlainObject(changes) ? capture(changes, 'changes') : undefined;
  const copy = checkUpdate(captured ? captured.copy : changes);
  const mayHang = holdsPattern(copy.$pull) || undefined;
  return { changes: encodeCaptured({ copy, json: captured?.json === true }), mayHang };
}

function withoutId(document: unknown): unknown {
  return isPlainObject(document) ? { ...document, _id: undefined } : document;
}
