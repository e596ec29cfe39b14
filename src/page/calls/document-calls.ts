import type { Stamp, Stored } from '../../api/document-types.ts';
import type { NearestExplanation } from '../../api/nearest-types.ts';
import { checkOptions } from '../../api/options/option-checks.ts';
import type { SearchExplanation, Suggestion } from '../../api/search-types.ts';
import { type Coroutine, type Result, wait } from '../../async/coroutine.ts';
import { isList, isPlainObject } from '../../codec/kinds.ts';
import { loadFailed } from '../../errors/errors.ts';
import { type ExpiryCheck, expiryCheck } from '../../protocol/expiry-check.ts';
import { documentBuilder, type ManagedColumns } from '../../protocol/managed.ts';
import type { Explained, RequestFlags } from '../../protocol/requests.ts';
import type { CollectionSettings } from '../../protocol/settings.ts';
import type { CallOrder } from '../connection/call-order.ts';
import { type Build, DocumentStream } from '../find/document-stream.ts';
import {
  type FindQuery,
  includeIn,
  type ParseSearch,
  parseFindQuery,
  parseMatchQuery,
  parsePipeline,
  searching,
} from '../find/find-query.ts';
import type { DocumentSchema } from '../schemas.ts';
import { checkId, checkIds } from '../sending/call-arguments.ts';
import { encodeAndSend, indexKeysReader, type ReadKeys } from '../sending/document-slices.ts';
import { documentAt, type EncodedDocument, encodeGiven, toDocument } from '../sending/documents.ts';
import {
  exclusively,
  type HandleRequest,
  pause,
  replyOf,
  request,
  type Sender,
} from '../sending/sender.ts';
import type { SharedDocuments } from '../sending/shared-documents.ts';
import {
  changeChecks,
  checkUpsert,
  type EncodedChanges,
  encodeChanges,
  upsertChecks,
} from './check-update.ts';
import { CommonCalls } from './common-calls.ts';
import { ModifyAttempts, modifyQueueOf } from './modify-attempts.ts';
import type { HybridQuery } from './nearest-calls.ts';

/** The calls of a document collection, asynchronous and synchronous. */
export class DocumentCalls<T extends object, S extends Stamp = never> extends CommonCalls {
  /** Set before the first call of a collection with a schema. */
  declare schema: DocumentSchema | undefined;
  /** Set before the first call of a collection with a text index. */
  declare parseSearch: ParseSearch | undefined;
  readonly #build: Build<T, S>;
  readonly #collection: string;
  readonly #checkExpiry: ExpiryCheck | undefined;
  readonly #indexKeys: ReadKeys | undefined;

  constructor(settings: CollectionSettings, order: CallOrder) {
    super(settings, order);
    this.#collection = settings.name;
    this.#checkExpiry = expiryCheck(settings);
    this.#indexKeys = indexKeysReader(settings);
    this.#build = documentBuilder(settings) as never;
  }

  *insert(sender: Sender, document: unknown): Coroutine<Stored<T, S>> {
    const { id, body, fields } = this.#encode(document, 'document');
    const [key, flags, stamps] = yield* request(sender, { op: 'insert', id, body });
    return this.#build(key, flags, stamps, fields);
  }

  *insertMany(sender: Sender, documents: unknown): Coroutine<Stored<T, S>[]> {
    const keysOf = this.#indexKeys;
    const slices = yield* encodeAndSend(sender, documents, 'insertMany', this.#encode, keysOf);
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
    const slices = yield* encodeAndSend(sender, documents, 'upsertMany', this.#encode);
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

  *upsert(sender: Sender, document: unknown): Coroutine<Stored<T, S>> {
    const { id, body, fields } = this.#encode(document, 'document');
    const [key, flags, stamps] = yield* request(sender, { op: 'upsert', id, body });
    return this.#build(key, flags, stamps, fields);
  }

  *update(sender: Sender, id: unknown, document: unknown): Coroutine<Stored<T, S> | undefined> {
    checkId(id);
    // An `_id` in the new content is ignored, like any managed field.
    const { body, fields } = this.#encode(withoutId(document), 'document');
    const reply = yield* request(sender, { op: 'update', id, body });
    return reply && this.#build(reply[0], reply[1], reply[2], fields);
  }

  *patch(
    sender: Sender,
    id: unknown,
    changes: unknown,
    options?: unknown,
  ): Coroutine<Stored<T, S> | undefined> {
    checkId(id);
    const given = options === undefined ? {} : checkOptions(options, changeChecks, 'options');
    const encoded = encodeChanges(changes, given);
    if (this.schema) {
      // Between its two requests no later call must take effect.
      return yield* exclusively(sender, (alone) => {
        const attempts = new ModifyAttempts(alone, (patched: unknown) => patched, undefined, id);
        return this.#replace(id, attempts, encoded);
      });
    }
    const reply = yield* request(sender, { op: 'patch', id, ...encoded });
    return reply && (toDocument(this.#build, reply.record) as Stored<T, S>);
  }

  *patchMany(
    sender: Sender,
    params: unknown,
    changes: unknown,
    options?: unknown,
  ): Coroutine<number> {
    const query = parseMatchQuery(params, options, false, changeChecks);
    const encoded = encodeChanges(changes, query.given);
    const { schema } = this;
    if (schema)
      return yield* this.atomically(sender, (atomic) =>
        this.#patchAll(atomic, schema, query, encoded),
      );
    const found = query.test ? { ids: yield* this.#idsOf(sender, query) } : query.selection;
    const ask = {
      op: 'patchMany',
      ...found,
      ...encoded,
      ...flagsOf(query, encoded),
    } as const;
    return (yield* request(sender, ask)).count;
  }

  /** Where the page decides, by a function or a schema, in a transaction. */
  *patchOne(
    sender: Sender,
    params: unknown,
    changes: unknown,
    options?: unknown,
  ): Coroutine<Stored<T, S> | undefined> {
    const query = parseMatchQuery(params, options, true, upsertChecks);
    const { upsert } = query.given as { readonly upsert: boolean };
    if (upsert) checkUpsert(query);
    const encoded = encodeChanges(changes, query.given);
    const ask = { ...query.selection, ...encoded, upsert, ...flagsOf(query, encoded) };
    return query.test || this.schema
      ? yield* this.atomically(sender, (atomic) => this.#patchFound(atomic, query, ask))
      : yield* this.#patchFirst(sender, ask);
  }

  *#patchAll(
    sender: Sender,
    schema: DocumentSchema,
    query: FindQuery,
    encoded: EncodedChanges,
  ): Coroutine<number> {
    const ids = yield* this.#idsOf(sender, query);
    const { criteria, collation } = query.selection;
    const ask = { ...encoded, criteria, collation };
    if (ids.length === 0) return yield* changeNone(sender, ask);
    return yield* schema.patchAll(sender, ids, ask, this.#build as never, this.#encode);
  }

  *#patchFound(
    sender: Sender,
    query: FindQuery,
    ask: PatchFirst,
  ): Coroutine<Stored<T, S> | undefined> {
    const [id] = yield* this.#idsOf(sender, query);
    if (id !== undefined || ask.upsert) return yield* this.#patchFirst(sender, { ...ask, id });
    yield* changeNone(sender, ask);
    return undefined;
  }

  *#patchFirst(sender: Sender, ask: PatchFirst): Coroutine<Stored<T, S> | undefined> {
    if (!this.schema) {
      const reply = yield* request(sender, { op: 'patchOne', ...ask });
      return reply && (toDocument(this.#build, reply.record) as Stored<T, S>);
    }
    const { id } = ask;
    const found = yield* request(sender, { op: 'getVersion', ...ask });
    if (!found) return undefined;
    const made = found.record[0] || undefined;
    const { body, fields } = this.#encode(
      withoutId(toDocument(this.#build, found.record)),
      'document',
    );
    const reply =
      id === undefined
        ? yield* request(sender, { op: 'insert', id: made, body })
        : yield* request(sender, { op: 'update', id, body, patch: ask });
    return reply && this.#build(reply[0], reply[1], reply[2], fields);
  }

  /** Runs a call of several requests all or none. */
  *atomically<R>(sender: Sender, start: (atomic: Sender) => Coroutine<R>): Coroutine<R> {
    const collection = this.#collection;
    return yield* exclusively(sender, function* (alone) {
      const { client } = alone;
      if (!client) return yield* start(alone);
      const { atomically } = yield* wait(import('../schemas.ts').catch(loadFailed));
      return yield* wait(atomically({ ...client, collection, start }));
    });
  }

  /**
   * Replaces a document by what a function makes of it, which runs again when somebody was quicker.
   */
  *modify(
    sender: Sender,
    id: unknown,
    change: unknown,
    options?: unknown,
  ): Coroutine<Stored<T, S> | undefined> {
    checkId(id);
    const attempts = new ModifyAttempts(sender, change, options, id);
    const start = () => this.#replace(id, attempts);
    return yield* attempts.inTurn(modifyQueueOf(this.order), id, start);
  }

  *#replace(
    id: string,
    attempts: ModifyAttempts,
    changes?: EncodedChanges,
  ): Coroutine<Stored<T, S> | undefined> {
    const { sender } = attempts;
    for (;;) {
      const found = yield* request(sender, { op: 'getVersion', id, ...changes });
      if (!found) {
        if (changes) yield* changeNone(sender, changes);
        return undefined;
      }
      const { record, version } = found;
      const changed = yield* attempts.run(toDocument(this.#build, record));
      if (changed === undefined) return toDocument(this.#build, record) as Stored<T, S>;
      const { body, fields } = this.#encode(withoutId(changed), 'document');
      const replacement = { id, body, version, patch: changes };
      const reply = yield* request(sender, { op: 'replaceIf', ...replacement });
      if (reply) return this.#build(reply[0], reply[1], reply[2], fields);
    }
  }

  /** Passes a document through the schema, if there is one. */
  readonly #encode = (document: unknown, place: string): EncodedDocument => {
    const encoded = this.schema
      ? this.schema.encode(document, place)
      : encodeGiven(document, place);
    this.#checkExpiry?.(encoded.fields, place);
    return encoded;
  };

  /** Later calls must wait meanwhile. */
  *restoreDocument(
    sender: Sender,
    ...given: readonly [id: unknown, backup: unknown, version: number]
  ): Coroutine<Stored<T, S>> {
    const code = import('./restore-document.ts').catch(loadFailed);
    const { restoreDocument } = yield* wait(code);
    return (yield* restoreDocument(sender, this.#build, this.#encode, given)) as Stored<T, S>;
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
    // A replay deletes the same documents, whatever time it is then.
    const now = query.selection.needs && Date.now();
    if (!query.test) return yield* request(sender, { op: 'deleteMany', ...query.selection, now });
    return yield* request(sender, { op: 'deleteMany', ids: yield* this.#idsOf(sender, query) });
  }

  *deleteOne(
    sender: Sender,
    params: unknown,
    options?: unknown,
  ): Coroutine<Stored<T, S> | undefined> {
    const query = parseMatchQuery(params, options, true);
    if (query.test)
      return yield* this.atomically(sender, (atomic) => this.#deleteFound(atomic, query));
    const reply = yield* request(sender, { op: 'deleteOne', ...query.selection });
    return reply && (toDocument(this.#build, reply) as Stored<T, S>);
  }

  *#deleteFound(sender: Sender, query: FindQuery): Coroutine<Stored<T, S> | undefined> {
    const [found] = yield* this.#collect(sender, query);
    if (found) yield* request(sender, { op: 'delete', id: found._id });
    return found;
  }

  get(sender: Sender, id: unknown, options?: unknown): Result<Stored<T, S> | undefined> {
    checkId(id);
    if (options !== undefined) includeIn(options, false);
    return (sender.near ? sender.near.get(id) : this.#get(sender, id)) as Result<Stored<T, S>>;
  }

  *#get(sender: Sender, id: string): Coroutine<Stored<T, S> | undefined> {
    if (sender.shared) return (yield* readShared(sender, sender.shared, [id]))[0] as Stored<T, S>;
    const reply = yield* request(sender, { op: 'get', id });
    return reply && (toDocument(this.#build, reply) as Stored<T, S>);
  }

  getMany(sender: Sender, ids: unknown, options?: unknown): Result<(Stored<T, S> | undefined)[]> {
    includeIn(options, false);
    const list = checkIds(ids);
    const found = sender.near ? sender.near.getMany(list) : this.#getMany(sender, list);
    return found as Result<Stored<T, S>[]>;
  }

  *#getMany(sender: Sender, list: string[]): Coroutine<(Stored<T, S> | undefined)[]> {
    if (sender.shared) return (yield* readShared(sender, sender.shared, list)) as Stored<T, S>[];
    const replies = yield* request(sender, { op: 'getMany', ids: list });
    return replies.map((reply) => reply && (toDocument(this.#build, reply) as Stored<T, S>));
  }

  find<F = Stored<T, S>>(
    sender: Sender,
    params: unknown,
    options?: unknown,
  ): Result<F | undefined> {
    const near = sender.near?.filter(params, options, 1);
    return near ? (near[0] as F) : this.#find<F>(sender, params, options);
  }

  *#find<F>(sender: Sender, params: unknown, options: unknown): Coroutine<F | undefined> {
    return (yield* this.#collect<F>(sender, parseFindQuery(params, options, 1)))[0];
  }

  filter<F = Stored<T, S>>(sender: Sender, params: unknown, options?: unknown): Result<F[]> {
    const near = sender.near?.filter(params, options) as F[] | undefined;
    return near ?? this.#collect<F>(sender, parseFindQuery(params, options));
  }

  *has(sender: Sender, params: unknown, options?: unknown): Coroutine<boolean> {
    return (yield* this.#find(sender, params, options)) !== undefined;
  }

  count(sender: Sender, params: unknown = {}, options?: unknown): Result<number> {
    return sender.near?.count(params, options) ?? this.#count(sender, params, options);
  }

  *#count(sender: Sender, params: unknown, options: unknown): Coroutine<number> {
    const query = parseFindQuery(params, options);
    if (!query.test) return yield* request(sender, { op: 'count', ...query.selection });
    return (yield* this.#collect(sender, { ...query, select: ['_id'] })).length;
  }

  aggregate<R extends object>(sender: Sender, ...[stages, options]: unknown[]): Coroutine<R[]> {
    return this.#collect<R>(sender, parsePipeline(stages, options));
  }

  *distinct<V>(sender: Sender, ...[path, criteria = {}, options]: unknown[]): Coroutine<V[]> {
    const query = parsePipeline([{ $match: criteria }, { distinct: path }], options);
    return (yield* this.#collect<{ value: V }>(sender, query)).map(({ value }) => value);
  }

  search<H extends object>(sender: Sender, text: unknown, options?: unknown): Coroutine<H[]> {
    return this.#collect<H>(sender, this.#searched('hits', text, options));
  }

  suggest(sender: Sender, text: unknown, options?: unknown): Coroutine<Suggestion[]> {
    return this.#collect<Suggestion>(sender, this.#searched('words', text, options));
  }

  explainSearch(sender: Sender, text: unknown, options?: unknown): Coroutine<SearchExplanation> {
    return this.#explained(sender, 'explanation', text, options);
  }

  nearest<H extends object>(sender: Sender, vector: unknown, options?: unknown): Coroutine<H[]> {
    return this.#collect<H>(sender, this.#searched('nearest', vector, options));
  }

  explainNearest(sender: Sender, of: unknown, options?: unknown): Coroutine<NearestExplanation> {
    return this.#explained(sender, 'neighbours', of, options);
  }

  *hybrid<H extends object>(sender: Sender, ...[text, of, options]: unknown[]): Coroutine<H[]> {
    const words = this.#searched('hybrid', [text, of], options) as HybridQuery;
    return yield* this.#collect<H>(sender, words.fused(yield* this.#collect(sender, words)));
  }

  *#explained<E extends object>(sender: Sender, ...asked: Parameters<ParseSearch>): Coroutine<E> {
    return (yield* this.#collect<E>(sender, this.#searched(...asked)))[0] as E;
  }

  #searched(...asked: Parameters<ParseSearch>): FindQuery {
    return searching(this.parseSearch)(...asked);
  }

  *explain(sender: Sender, params: unknown, options?: unknown): Coroutine<Explained> {
    const isPipeline = isList(params);
    const query = isPipeline ? parsePipeline(params, options) : parseFindQuery(params, options);
    const { selection, pipeline } = query;
    const needs = [...(selection.needs ?? []), 'aggregation'] as const;
    const asked = { ...selection, needs, ...(isPipeline && { pipeline }) };
    return yield* request(sender, { op: 'explain', ...asked });
  }

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

type PatchFirst = Omit<HandleRequest<'patchOne'>, 'op'>;

/** How to send changes of what a query finds. */
function flagsOf(
  { selection }: FindQuery,
  { mayHang, needs }: EncodedChanges,
): Pick<RequestFlags, 'mayHang' | 'needs'> {
  const both = [...(selection.needs ?? []), ...(needs ?? [])];
  return {
    mayHang: selection.mayHang ?? mayHang,
    needs: both.length > 0 ? both : undefined,
  };
}

/** The engine refuses wrong changes, also where there is no document to change. */
function* changeNone(sender: Sender, changes: PatchFirst): Coroutine<number> {
  return (yield* request(sender, { ...changes, op: 'patchMany', ids: [] })).count;
}

function withoutId(document: unknown): unknown {
  return isPlainObject(document) ? { ...document, _id: undefined } : document;
}

/** Shared documents by id, `undefined` where there is none. */
function* readShared(
  sender: Sender,
  documents: SharedDocuments,
  ids: readonly string[],
): Coroutine<(object | undefined)[]> {
  const { ask, take } = documents.reading();
  return take(yield* request(sender, { op: 'getShared', ids, shared: ask }));
}
