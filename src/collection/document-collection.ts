import type { CallOrder } from './calls/call-order.ts';
import type { DocumentCalls } from './calls/document-calls.ts';
import { copyList } from './calls/first-call.ts';
import { checkId } from './calls/item-checks.ts';
import type { HandleCalls, Runtime } from './calls/runtime.ts';
import { CollectionHandle } from './collection-handle.ts';
import type {
  AnyDocument,
  Explanation,
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
import type { Patch } from './update-types.ts';

/**
 * A collection of documents.
 *
 * Calls take effect in the order in which they are made, awaited or not. Arguments are copied; results belong to the
 * caller. A call resolves when the engine has executed it; `save()` resolves when it is in storage.
 *
 * `T` is the type of the documents, `S` their stamps, such as `'_created_at'` with `indicate_created_at: true`.
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
   * Inserts a document. Its `_id` counts if it has one; other managed fields are ignored.
   *
   * @returns the stored document: managed fields first, then the caller's.
   * @throws {ValueError} `id_taken`; or with the path of a value that cannot be stored.
   */
  insert(document: NewDocument<T>): Promise<Stored<T, S>> {
    return this.call([document], (calls, sender, given) => calls.insert(sender, given));
  }

  /**
   * Inserts many documents, all or none. A large list is encoded in slices, which keeps the page responsive: do not
   * change its documents until the promise settles.
   *
   * @throws {ValueError} with the path of the invalid value, such as `documents[3].name`.
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
   * Replaces the caller's fields of a document. There are no operators: `{ $set: … }` is a field of that name.
   *
   * @returns the document; `undefined` if no document has this id.
   */
  update(id: string, document: NewDocument<T>): Promise<Stored<T, S> | undefined> {
    return this.call([id, document], (calls, sender, key, given) =>
      calls.update(sender, key, given),
    );
  }

  /**
   * Changes a document: sets fields, by name or by dotted path such as `'address.city'`, or applies update operators.
   * `undefined` as a new value is stored, it does not remove the field.
   *
   * @returns the document; `undefined` if no document has this id.
   * @throws {ValueError} `update_invalid` with the path in the changes; {KeyError} `kind_mismatch` if the stored value is
   *   of another kind than the change needs, `paths_conflict` if a path begins with another; {CriteriaError} in `$pull`.
   *
   * @example
   * ```ts
   * await users.patch(ada._id, { age: 37, 'address.city': 'Oslo' });
   * await users.patch(ada._id, { $inc: { age: 1 }, $push: { tags: 'climber' } });
   * ```
   */
  patch(id: string, changes: Patch<T>): Promise<Stored<T, S> | undefined> {
    return this.call([id, changes], (calls, sender, key, given) => calls.patch(sender, key, given));
  }

  /** Archives a document. Resolves with `false` if no document has this id, or it is archived already. */
  archive(id: string): Promise<boolean> {
    return this.call([id], (calls, sender, key) => calls.archive(sender, key));
  }

  /** Unarchives a document. Resolves with `false` if no document has this id, or it is not archived. */
  unarchive(id: string): Promise<boolean> {
    return this.call([id], (calls, sender, key) => calls.unarchive(sender, key));
  }

  /** Deletes a document. Resolves with `false` if no document has this id. */
  delete(id: string): Promise<boolean> {
    return this.call([id], (calls, sender, key) => calls.delete(sender, key));
  }

  /** Deletes the matching documents. Resolves with their number. */
  deleteMany(params: Params<T, S>, options?: MatchOptions<T, S>): Promise<number> {
    // A function runs in this thread, between two requests.
    const exclusive = typeof params === 'function' || options?.where !== undefined;
    return this.call(
      [params, options],
      (calls, sender, query, given) => calls.deleteMany(sender, query, given),
      { options, exclusive },
    );
  }

  /** Finds the document with this id, archived or not; `undefined` if there is none. */
  get(id: string): Promise<Stored<T, S> | undefined> {
    return this.call([id], (calls, sender, key) => calls.get(sender, key));
  }

  /**
   * Finds the first matching document, in insertion order; `undefined` if there is none.
   *
   * @param params Criteria in MongoDB's query language, or a function of a document. The function runs in the calling
   *   thread, with its closure; documents reach it in chunks.
   * @throws {CriteriaError} with the path in the criteria.
   */
  find<const L extends SelectOption<T, S> = undefined>(
    params: Params<T, S>,
    options?: FindOptions<T, S, L>,
  ): Promise<Found<T, S, L> | undefined> {
    return this.call(
      [params, options],
      (calls, sender, query, given) => calls.find<Found<T, S, L>>(sender, query, given),
      { options },
    );
  }

  /** Finds all matching documents, in insertion order. */
  filter<const L extends SelectOption<T, S> = undefined>(
    params: Params<T, S>,
    options?: FindOptions<T, S, L>,
  ): Promise<Found<T, S, L>[]> {
    return this.call(
      [params, options],
      (calls, sender, query, given) => calls.filter<Found<T, S, L>>(sender, query, given),
      { options },
    );
  }

  /** Whether a document matches. */
  has(params: Params<T, S>, options?: MatchOptions<T, S>): Promise<boolean> {
    return this.call(
      [params, options],
      (calls, sender, query, given) => calls.has(sender, query, given),
      { options },
    );
  }

  /** Counts the matching documents; without params, all. */
  count(params?: Params<T, S>, options?: FindOptions<T, S, SelectOption<T, S>>): Promise<number> {
    return this.call(
      [params, options],
      (calls, sender, query, given) => calls.count(sender, query, given),
      { options },
    );
  }

  /**
   * Explains how `filter` finds its documents: the index, the keys and documents examined, the engine and the time. Runs
   * the query, without its functions, and returns no documents.
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
   * Iterates over the matching documents, one chunk in memory. Leaves out documents inserted meanwhile.
   *
   * @throws {WorkerError} `scan_lost` if the worker was replaced meanwhile, because another call hung.
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
      // The stream starts with this call, before later calls.
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
          (_, sender, open) => open.read(sender),
          { options, copy: (open) => open },
        );
      }
    } finally {
      await this.call([stream], (_, sender, open) => open?.end(sender), { copy: (open) => open });
    }
  }

  /** Iterates over all documents that are not archived, like {@link DocumentCollection.each}. */
  [Symbol.asyncIterator](): AsyncGenerator<Stored<T, S>, void, undefined> {
    return this.each();
  }

  /**
   * Makes a {@link LiveQuery} of the matching documents.
   *
   * @param params As for {@link filter}. A function runs for new and changed documents.
   * @throws {OptionError} with the option; {CriteriaError}. Errors that the engine finds are the snapshot's `error`.
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

  /** Makes a {@link LiveQuery} of the number of matching documents; without params, of all. */
  liveCount(
    params: Params<T, S> = {} as Params<T, S>,
    options?: LiveCountOptions<T, S>,
  ): LiveQuery<number> {
    return new LiveQuery(documentsSource({ ...this.liveBase, count: true }, params, options));
  }

  /**
   * Makes a {@link LiveQuery} of the document with this id, archived or not; `undefined` while there is none.
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
