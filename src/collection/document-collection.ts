import type { Explained } from '../engine/protocol/requests.ts';
import type { CallOrder } from './calls/call-order.ts';
import type { DocumentCalls } from './calls/document-calls.ts';
import { checkId } from './calls/item-checks.ts';
import type { HandleCalls, Runtime } from './calls/runtime.ts';
import { CollectionHandle } from './collection-handle.ts';
import type {
  AnyDocument,
  FindOptions,
  Found,
  MatchOptions,
  NewDocument,
  Params,
  SelectOption,
  Stamp,
  Stored,
} from './document-types.ts';
import type { DocumentStream } from './find/document-stream.ts';
import type { LiveCountOptions, LiveOptions } from './live/live-options.ts';
import { documentsSource } from './live/live-params.ts';
import { LiveQuery } from './live/live-query.ts';
import type { SyncDocuments } from './sync-documents.ts';

/** How a query was answered, and what it cost. */
export interface Explanation extends Explained {
  /** Where the engine runs: in this thread, in a worker of this page, or in another tab, which leads. */
  readonly engine: 'thread' | 'worker' | 'tab';
  /** Milliseconds from the call to the answer. */
  readonly total_ms: number;
}

/**
 * A collection of documents.
 *
 * Calls take effect in the order they are made, awaited or not. What goes in is copied, what comes out is
 * the caller's own. A call resolves when the engine has executed it; {@link CollectionHandle.save} tells
 * when it is in storage.
 *
 * `T` is the type of its documents, `S` the stamps that they carry; constructing it with `indicate_created_at: true`
 * makes that `'_created_at'`.
 *
 * @example
 * ```ts
 * const users = new db.Collection<{ name: string; age: number }>({ name: 'users', type: 'DOCUMENT_BASED' });
 * const ada = await users.insert({ name: 'Ada', age: 36 });
 * await users.filter({ age: { $gte: 18 } });
 * await users.update(ada._id, { name: 'Ada', age: 37 });
 * ```
 */
export class DocumentCollection<
  T extends object = AnyDocument,
  S extends Stamp = never,
> extends CollectionHandle<DocumentCalls<T, S>, SyncDocuments<T, S>> {
  /**
   * Inserts a document. An `_id` in it is honoured, other managed fields are ignored.
   *
   * @returns the stored document: managed fields first, then its own.
   * @throws {ValueError} `id_taken`, or naming the path of what cannot be stored.
   */
  insert(document: NewDocument<T>): Promise<Stored<T, S>> {
    return this.call([document], (calls, sender, given) => calls.insert(sender, given));
  }

  /**
   * Inserts many documents, all or none. A large list is encoded in slices, so that the page is never
   * blocked for long: leave its documents unchanged until the promise settles.
   *
   * @throws {ValueError} with the path of the offending part, such as `documents[3].name`.
   */
  insertMany(documents: readonly NewDocument<T>[]): Promise<Stored<T, S>[]> {
    return this.call([documents], (calls, sender, list) => calls.insertMany(sender, list), {
      exclusive: true,
      copy: copyList,
    });
  }

  /** Replaces the document with this `_id`, like `update`, or inserts it. */
  upsert(document: NewDocument<T>): Promise<Stored<T, S>> {
    return this.call([document], (calls, sender, given) => calls.upsert(sender, given));
  }

  /**
   * Replaces the caller's fields of a document and keeps the managed ones. There are no operators: `{ $set: … }` is a
   * document with a field of that name.
   *
   * @returns the document, or `undefined` if there is none with this id.
   */
  update(id: string, document: NewDocument<T>): Promise<Stored<T, S> | undefined> {
    return this.call([id, document], (calls, sender, key, given) =>
      calls.update(sender, key, given),
    );
  }

  /**
   * Sets single fields of a document; a dotted path such as `'address.city'` reaches deeper. `undefined` is
   * stored, not removed. There are no operators: `{ $set: … }` sets a field of that name.
   *
   * @returns the document, or `undefined` if there is none with this id.
   * @throws {KeyError} `kind_mismatch` when a path leads through something that is no object or array.
   */
  patch(
    id: string,
    changes: Partial<NewDocument<T>> | AnyDocument,
  ): Promise<Stored<T, S> | undefined> {
    return this.call([id, changes], (calls, sender, key, given) => calls.patch(sender, key, given));
  }

  /** Archives a document. `false` if there is none with this id, or it is archived already. */
  archive(id: string): Promise<boolean> {
    return this.call([id], (calls, sender, key) => calls.archive(sender, key));
  }

  /** Takes a document out of the archive. `false` if there is none with this id, or it is not archived. */
  unarchive(id: string): Promise<boolean> {
    return this.call([id], (calls, sender, key) => calls.unarchive(sender, key));
  }

  /** Removes a document. `false` if there is none with this id. */
  delete(id: string): Promise<boolean> {
    return this.call([id], (calls, sender, key) => calls.delete(sender, key));
  }

  /** Removes the documents that match. Resolves with how many. */
  deleteMany(params: Params<T, S>, options?: MatchOptions<T, S>): Promise<number> {
    // A function runs here, between two requests.
    const exclusive = typeof params === 'function' || options?.where !== undefined;
    return this.call(
      [params, options],
      (calls, sender, query, given) => calls.deleteMany(sender, query, given),
      { options, exclusive },
    );
  }

  /** The document with this id, archived or not, or `undefined`. */
  get(id: string): Promise<Stored<T, S> | undefined> {
    return this.call([id], (calls, sender, key) => calls.get(sender, key));
  }

  /**
   * The first document that matches, in order of insertion, or `undefined`.
   *
   * @param params Criteria in MongoDB's query language, or a function that gets a document; it runs here,
   *   with its closures, and documents reach it in chunks.
   * @throws {CriteriaError} naming the place in the criteria.
   */
  find<const L extends SelectOption<T, S> = undefined>(
    params: Params<T, S>,
    options?: FindOptions<T, S, L>,
  ): Promise<Found<T, S, L> | undefined> {
    return this.call(
      [params, options],
      (calls, sender, query, given) => calls.find<Found<T, S, L>>(sender, query, given),
      {
        options,
      },
    );
  }

  /** All documents that match, in order of insertion. */
  filter<const L extends SelectOption<T, S> = undefined>(
    params: Params<T, S>,
    options?: FindOptions<T, S, L>,
  ): Promise<Found<T, S, L>[]> {
    return this.call(
      [params, options],
      (calls, sender, query, given) => calls.filter<Found<T, S, L>>(sender, query, given),
      {
        options,
      },
    );
  }

  /** Whether a document matches. */
  has(params: Params<T, S>, options?: MatchOptions<T, S>): Promise<boolean> {
    return this.call(
      [params, options],
      (calls, sender, query, given) => calls.has(sender, query, given),
      {
        options,
      },
    );
  }

  /** How many documents match; without params, how many there are. */
  count(params?: Params<T, S>, options?: FindOptions<T, S, SelectOption<T, S>>): Promise<number> {
    return this.call(
      [params, options],
      (calls, sender, query, given) => calls.count(sender, query, given),
      {
        options,
      },
    );
  }

  /**
   * How `filter` would find its documents: by which index, how many keys and documents it looks at, where it
   * runs and how long it takes. It finds them, and delivers none. Functions are left out, since they run here.
   *
   * @example
   * ```ts
   * const { plan, keys_examined, documents_examined, returned } = await users.explain({ age: { $gt: 60 } });
   * ```
   */
  async explain(
    params: Params<T, S>,
    options?: FindOptions<T, S, SelectOption<T, S>>,
  ): Promise<Explanation> {
    const began = performance.now();
    const explained = await this.call(
      [params, options],
      (calls, sender, query, given) => calls.explain(sender, query, given),
      { options },
    );
    const { engine } = this.owner.status as Pick<Explanation, 'engine'>;
    return { ...explained, engine, total_ms: performance.now() - began };
  }

  /**
   * Goes over documents in order, chunk by chunk, without holding all of them in memory. Documents inserted
   * meanwhile do not come by.
   *
   * @throws {WorkerError} `scan_lost` when the worker was replaced meanwhile, because another call hung.
   *
   * @example
   * ```ts
   * for await (const user of users.each({ age: { $gte: 18 } })) console.log(user.name);
   * ```
   */
  async *each<const L extends SelectOption<T, S> = undefined>(
    params: Params<T, S> = {} as Params<T, S>,
    options?: FindOptions<T, S, L>,
  ): AsyncGenerator<Found<T, S, L>, void, undefined> {
    let stream: DocumentStream<T, S> | undefined;
    try {
      // The stream begins with this very call, in order with those made after it.
      let chunk = await this.call(
        [params, options],
        (calls, sender, query, given) => {
          stream = calls.stream(query, given);
          return stream.read(sender);
        },
        { options },
      );
      while (chunk) {
        yield* chunk as Found<T, S, L>[];
        chunk = await this.call(
          [stream as DocumentStream<T, S>],
          (_, sender, on) => on.read(sender),
          {
            options,
            copy: (open) => open,
          },
        );
      }
    } finally {
      await this.call([stream], (_, sender, open) => open?.end(sender), { copy: (open) => open });
    }
  }

  /** All documents that are not archived, as {@link DocumentCollection.each} gives them. */
  [Symbol.asyncIterator](): AsyncGenerator<Stored<T, S>, void, undefined> {
    return this.each();
  }

  /**
   * The documents that match, for as long as somebody looks: a {@link LiveQuery}.
   *
   * @param params As for {@link filter}. A function runs here, on documents that are new or changed.
   * @throws {OptionError} naming the option; {CriteriaError}. What the engine finds wrong with criteria or
   *   paths is the `error` of the snapshot.
   *
   * @example
   * ```ts
   * const adults = users.live({ age: { $gte: 18 } }, { sort: { name: 1 }, limit: 20 });
   * const stop = adults.subscribe(({ status, data }) => console.log(status, data?.length));
   * ```
   */
  live<const L extends SelectOption<T, S> = undefined>(
    params: Params<T, S>,
    options?: LiveOptions<T, S, L>,
  ): LiveQuery<readonly Found<T, S, L>[]> {
    return new LiveQuery(documentsSource(this.liveBase, params, options));
  }

  /** How many documents match, for as long as somebody looks; without params, how many there are. */
  liveCount(
    params: Params<T, S> = {} as Params<T, S>,
    options?: LiveCountOptions<T, S>,
  ): LiveQuery<number> {
    return new LiveQuery(documentsSource({ ...this.liveBase, count: true }, params, options));
  }

  /**
   * The document with this id, archived or not, for as long as somebody looks; `undefined` while there is
   * none.
   *
   * @throws {ValueError} `id_invalid`
   */
  liveDocument(id: string): LiveQuery<Stored<T, S> | undefined> {
    checkId(id);
    return new LiveQuery({ ...this.liveBase, key: id, throttle: 0 });
  }

  protected open(runtime: Runtime, order: CallOrder): HandleCalls<DocumentCalls<T, S>> {
    return runtime.openDocuments(this.settings, order);
  }

  protected async loadSync({
    calls,
    channel,
  }: HandleCalls<DocumentCalls<T, S>>): Promise<SyncDocuments<T, S>> {
    const { SyncDocuments } = await import('./sync-documents.ts');
    return new SyncDocuments(this.name, calls, channel);
  }
}

/** Its documents stay the caller's until the promise settles. */
function copyList(documents: unknown): unknown {
  return Array.isArray(documents) ? [...documents] : documents;
}
