import { type Body, decode, encode } from '../codec/body.ts';
import { isPlainObject } from '../codec/kinds.ts';
import { documentBuilder, MANAGED_FIELDS } from '../engine/managed.ts';
import type { ArchivedFilter, ReplyTo, ScanReply } from '../engine/protocol.ts';
import type { CollectionSettings } from '../engine/settings.ts';
import { ValueError } from '../errors/value-error.ts';
import type { Stamp, Stored } from './document-types.ts';
import { checkId, documentAt, encodeDocument, toDocument } from './documents.ts';
import { ask, collect, type Exchange, pause, post, type Ticket } from './exchange.ts';
import { copyCriteria, matches, parseFindOptions } from './params.ts';

/** Characters of bodies encoded in one turn by `insertMany`: about 10 ms of work. */
const SLICE_SIZE = 1024 * 1024;

/** What a body that is no string counts as: it takes longer than a string of its size. */
const EXACT_SIZE = 4096;

type AnyPredicate = (document: never) => unknown;

/** What the methods of a document collection do, whether they return promises or not. */
export class DocumentExchanges<T extends object, S extends Stamp = never> {
  readonly #build: (...parts: Parameters<ReturnType<typeof documentBuilder>>) => Stored<T, S>;

  constructor(settings: CollectionSettings) {
    this.#build = documentBuilder(settings) as never;
  }

  *insert(document: unknown): Exchange<Stored<T, S>> {
    const { id, body, fields } = encodeDocument(document, 'document');
    const [key, flags, stamps] = yield* ask({ op: 'insert', id, body });
    return this.#build(key, flags, stamps, fields);
  }

  *insertMany(documents: unknown): Exchange<Stored<T, S>[]> {
    if (!Array.isArray(documents)) {
      throw new ValueError('document_invalid', 'insertMany takes an array of documents.', {
        place: 'documents',
      });
    }
    // Later slices are encoded in later turns; the list itself is taken now.
    const list: unknown[] = [...documents];
    const slices: { fields: object[]; ticket: Ticket<'insertPart'> }[] = [];
    const call = Math.random();
    try {
      for (let from = 0, last = false; !last; ) {
        const { ids, bodies, fields } = encodeSlice(list, from);
        from += bodies.length;
        last = from >= list.length;
        const ticket = yield* post({ op: 'insertPart', call, last, ids, bodies });
        slices.push({ fields, ticket });
        if (!last) yield* pause();
      }
    } catch (error) {
      if (slices.length > 0) yield* post({ op: 'insertAbandon', call });
      throw error;
    }
    const stored: Stored<T, S>[] = [];
    for (const { fields, ticket } of slices) {
      const columns = yield* collect(ticket);
      fields.forEach((own, index) => {
        stored.push(documentAt(this.#build, columns, index, own) as Stored<T, S>);
      });
      if (slices.length > 8) yield* pause();
    }
    return stored;
  }

  *upsert(document: unknown): Exchange<Stored<T, S>> {
    const { id, body, fields } = encodeDocument(document, 'document');
    const [key, flags, stamps] = yield* ask({ op: 'upsert', id, body });
    return this.#build(key, flags, stamps, fields);
  }

  *update(id: unknown, document: unknown): Exchange<Stored<T, S> | undefined> {
    checkId(id);
    // An `_id` in the new content is managed, hence ignored, whatever it is.
    const { body, fields } = encodeDocument(withoutId(document), 'document');
    const reply = yield* ask({ op: 'update', id, body });
    return reply && this.#build(reply[0], reply[1], reply[2], fields);
  }

  *patch(id: unknown, changes: unknown): Exchange<Stored<T, S> | undefined> {
    checkId(id);
    if (!isPlainObject(changes)) {
      throw new ValueError('document_invalid', 'changes must be a plain object.', {
        place: 'changes',
      });
    }
    const encoded: [string, Body][] = [];
    for (const [path, value] of Object.entries(changes)) {
      if (MANAGED_FIELDS.has(path.split('.', 1)[0] as string)) continue;
      encoded.push([path, encode(value, `changes.${path}`)]);
    }
    const reply = yield* ask({ op: 'patch', id, changes: encoded });
    return reply && (toDocument(this.#build, reply) as Stored<T, S>);
  }

  *change(op: 'archive' | 'unarchive' | 'delete', id: unknown): Exchange<boolean> {
    checkId(id);
    return yield* ask({ op, id });
  }

  *deleteMany(params: unknown, options?: unknown): Exchange<number> {
    if (typeof params !== 'function') {
      const archived = parseFindOptions(options);
      return yield* ask({ op: 'deleteMany', criteria: copyCriteria(params), archived });
    }
    const ids = (yield* this.filter(params, options)).map(({ _id }) => _id);
    return yield* ask({ op: 'deleteMany', ids });
  }

  *get(id: unknown): Exchange<Stored<T, S> | undefined> {
    checkId(id);
    const reply = yield* ask({ op: 'get', id });
    return reply && (toDocument(this.#build, reply) as Stored<T, S>);
  }

  /** `F`: what comes of a document when only parts of it are selected. */
  *find<F = Stored<T, S>>(params: unknown, options?: unknown): Exchange<F | undefined> {
    const archived = parseFindOptions(options);
    if (typeof params !== 'function') {
      const reply = yield* ask({ op: 'find', criteria: copyCriteria(params), archived });
      return reply && (toDocument(this.#build, reply) as F);
    }
    let first: Stored<T, S> | undefined;
    let firstOrder = Number.POSITIVE_INFINITY;
    yield* this.#scan(undefined, archived, (chunk) => {
      chunk.orders.forEach((order, index) => {
        if (order > firstOrder) return;
        const document = this.#read(chunk, index);
        if (!matches(params as AnyPredicate, document as never)) return;
        first = document;
        firstOrder = order;
      });
      return firstOrder > chunk.floor;
    });
    return first as F | undefined;
  }

  *filter<F = Stored<T, S>>(params: unknown, options?: unknown): Exchange<F[]> {
    const found: { order: number; document: Stored<T, S> }[] = [];
    yield* this.#visit(params, options, (document, order) => {
      found.push({ order, document });
    });
    // Without caching documents may come segment by segment; sorting what is in order already costs nothing.
    return found.sort((a, b) => a.order - b.order).map(({ document }) => document as F);
  }

  *has(params: unknown, options?: unknown): Exchange<boolean> {
    return (yield* this.find(params, options)) !== undefined;
  }

  *count(params: unknown = {}, options?: unknown): Exchange<number> {
    if (typeof params !== 'function') {
      const archived = parseFindOptions(options);
      return yield* ask({ op: 'count', criteria: copyCriteria(params), archived });
    }
    let count = 0;
    yield* this.#visit(params, options, () => {
      count++;
    });
    return count;
  }

  #read(chunk: ScanReply, index: number): Stored<T, S> {
    const fields = decode(chunk.bodies[index] as Body) as object;
    return documentAt(this.#build, chunk, index, fields) as Stored<T, S>;
  }

  /** Visits every document that matches. */
  *#visit(
    params: unknown,
    options: unknown,
    visit: (document: Stored<T, S>, order: number) => void,
  ): Exchange<void> {
    const archived = parseFindOptions(options);
    const isFunction = typeof params === 'function';
    yield* this.#scan(isFunction ? undefined : copyCriteria(params), archived, (chunk) => {
      chunk.orders.forEach((order, index) => {
        const document = this.#read(chunk, index);
        if (!isFunction || matches(params as AnyPredicate, document as never)) {
          visit(document, order);
        }
      });
      return true;
    });
  }

  /** Goes over documents chunk by chunk, for as long as `take` returns true. */
  *#scan(
    criteria: object | undefined,
    archived: ArchivedFilter,
    take: (chunk: ScanReply) => boolean,
  ): Exchange<void> {
    let cursor: number | undefined;
    try {
      let chunk: ReplyTo<'scan'> = yield* ask({ op: 'scan', criteria, archived });
      for (;;) {
        cursor = chunk.cursor;
        if (!take(chunk) || cursor === undefined) return;
        chunk = yield* ask({ op: 'scanNext', cursor });
      }
    } finally {
      if (cursor !== undefined) yield* post({ op: 'scanEnd', cursor });
    }
  }
}

function encodeSlice(list: readonly unknown[], from: number) {
  const bodies: Body[] = [];
  const ids: (string | undefined)[] = [];
  const fields: object[] = [];
  let size = 0;
  for (let index = from; index < list.length && size < SLICE_SIZE; index++) {
    const encoded = encodeDocument(list[index], `documents[${index}]`);
    bodies.push(encoded.body);
    ids.push(encoded.id);
    fields.push(encoded.fields);
    size += typeof encoded.body === 'string' ? encoded.body.length : EXACT_SIZE;
  }
  return { bodies, fields, ids: ids.some((id) => id !== undefined) ? ids : undefined };
}

function withoutId(document: unknown): unknown {
  return isPlainObject(document) ? { ...document, _id: undefined } : document;
}
