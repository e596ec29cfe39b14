import type {
  AggregateOptions,
  AggregateResult,
  LiveAggregateOptions,
  PipelineStage,
} from '../../api/aggregate-types.ts';
import type {
  AnyDocument,
  DocumentChange,
  Explanation,
  FindOptions,
  Found,
  IdOf,
  Params,
  Read,
  SelectOption,
  Stamp,
  Stored,
} from '../../api/document-types.ts';
import type { LiveCountOptions, LiveOptions, WatchHandlers } from '../../api/live-options.ts';
import type { IncludeOption, RelationsOf } from '../../api/relation-types.ts';
import type { LiveSearchOptions, SearchHit } from '../../api/search-types.ts';
import type { DocumentCalls } from '../calls/document-calls.ts';
import {
  type DocumentMethods,
  type DocumentReads,
  documentMethods,
  documentReads,
} from '../calls/document-methods.ts';
import { addMethods } from '../calls/methods.ts';
import type { DocumentStream } from '../find/document-stream.ts';
import { copied } from '../find/search.ts';
import { LiveQuery, watchQuery } from '../live/live-query.ts';
import { documentsSource } from '../live/live-source.ts';
import { checkId } from '../sending/call-arguments.ts';
import { type OpenView, viewOf } from './backup-view.ts';
import { CollectionHandle } from './collection-handle.ts';
import type { SyncDocuments } from './sync-methods.ts';

/** What is not in the table. */
const READS = ['explain', 'each', Symbol.asyncIterator] as const;

/**
 * A collection as a backup has it, to be read. Methods, options and types are those of the
 * collection; nothing is copied or restored.
 *
 * @example
 * ```ts
 * const before = notes.at(backup);
 * await before.filter({ done: false }, { sort: { title: 1 } });
 * ```
 */
export interface BackupView<T extends object, S extends Stamp = never>
  extends OpenView,
    DocumentReads<T, S, 'async'>,
    Pick<DocumentCollection<T, S, T>, (typeof READS)[number]> {}

export interface DocumentCollection<
  T extends object = AnyDocument,
  S extends Stamp = never,
  I extends object = T,
> extends DocumentMethods<T, S, I, 'async'> {
  /** Of the type alone. A method: collections with other relations fit where these do. */
  '~relations'?(relations: RelationsOf<S>): void;
}

/**
 * A collection of documents.
 *
 * Calls take effect in the order in which they are made, awaited or not. Arguments are copied;
 * results belong to the caller. A call resolves when the engine has executed it; `save()` resolves
 * when it is in storage.
 *
 * `T` is the type of the documents, `S` their stamps, such as `'_created_at'` with
 * `indicate_created_at: true`, and `I` the type of what goes in, which a schema may turn into
 * another.
 *
 * @example
 * ```ts
 * interface User {
 *   name: string;
 *   age: number;
 * }
 * const users = new db.Collection<User>({ name: 'users', type: 'DOCUMENT_BASED' });
 * const ada = await users.insert({ name: 'Ada', age: 36 });
 * await users.filter({ age: { $gte: 18 } });
 * await users.update(ada._id, { name: 'Ada', age: 37 });
 * ```
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: `addMethods` makes them.
export class DocumentCollection<
  T extends object = AnyDocument,
  S extends Stamp = never,
  I extends object = T,
> extends CollectionHandle<DocumentCalls<T, S>, SyncDocuments<T, S, I>> {
  static {
    addMethods(this, documentMethods);
  }

  /**
   * Puts a document back as a backup has it, managed fields included. One that exists keeps its
   * place in insertion order, another comes last. An ordinary change: it is saved, replicated and
   * shown by live queries as any.
   *
   * @returns the document.
   * @throws {BackupError} `document_unknown` if the backup does not have it, `backup_unknown`,
   *   `backup_damaged`; {ValueError} `unique_violation`, `schema_violation`. Nothing is changed
   *   then.
   *
   * @example
   * ```ts
   * await notes.restoreDocument(id, backup);
   * ```
   */
  restoreDocument(id: IdOf<T>, backup: string): Promise<Stored<T, S>> {
    const { version } = this.settings;
    return this.call((calls) => calls.restoreDocument, [id, backup, version], { exclusive: true });
  }

  /**
   * Explains how `filter` finds its documents: the index, the keys and documents examined, the
   * engine and the time. Of a pipeline, how `aggregate` and `liveAggregate` answer each stage. Runs
   * the query, without its functions, and returns no documents.
   *
   * @example
   * ```ts
   * const explained = await users.explain({ age: { $gt: 60 } });
   * const { plan, keys_examined, documents_examined, returned } = explained;
   * ```
   */
  explain(
    params: Params<T, S>,
    options?: FindOptions<T, S, SelectOption<T, S>, IncludeOption<S>>,
  ): Promise<Explanation>;
  explain(pipeline: readonly PipelineStage[], options?: AggregateOptions): Promise<Explanation>;
  async explain(params: object, options?: object): Promise<Explanation> {
    const began = performance.now();
    const explained = await this.call((calls) => calls.explain, [params, options], { options: 1 });
    const { engine } = this.owner.status as Pick<Explanation, 'engine'>;
    return { ...explained, engine, total_ms: performance.now() - began };
  }

  /**
   * Iterates over the matching documents, one chunk in memory. Leaves out documents inserted
   * meanwhile.
   *
   * @throws {WorkerError} `scan_lost` if the worker was replaced meanwhile, because another call
   *   hung.
   *
   * @example
   * ```ts
   * for await (const user of users.each({ age: { $gte: 18 } })) console.log(user.name);
   * ```
   */
  async *each<
    const L extends SelectOption<T, S> = undefined,
    const N extends IncludeOption<S> = undefined,
  >(
    params: Params<T, S> = {} as Params<T, S>,
    options?: FindOptions<T, S, L, N>,
  ): AsyncGenerator<Found<T, S, L, N>, void, undefined> {
    let stream: DocumentStream<T, S> | undefined;
    try {
      // The stream starts with this call, before later calls.
      let chunk = await this.call(
        (calls) => (sender, query, given) => {
          stream = calls.stream(query, given);
          return stream.read(sender);
        },
        [params, options],
        { options: 1 },
      );
      while (chunk) {
        yield* chunk as Found<T, S, L, N>[];
        chunk = await this.call(
          () => (sender, _) => (stream as DocumentStream<T, S>).read(sender),
          [options],
          { options: 0 },
        );
      }
    } finally {
      await this.call(() => (sender) => stream?.end(sender), []);
    }
  }

  /** Iterates over all documents that are not archived, like {@link each}. */
  [Symbol.asyncIterator](): AsyncGenerator<Read<T, S>, void, undefined> {
    return this.each() as AsyncGenerator<Read<T, S>, void, undefined>;
  }

  /**
   * Shows the collection as a backup has it, without restoring it. The backup is opened by the
   * first call, and cannot be deleted or expire while it is read.
   *
   * @param backup Name of the backup. Calls reject with {BackupError} `backup_unknown`,
   *   `backup_damaged`, and with {CollectionError} `schema_older`, `schema_newer` if its documents
   *   have another version.
   *
   * @example
   * ```ts
   * const yesterday = notes.at(backup);
   * console.log(await yesterday.count({ done: true }));
   * await yesterday.close();
   * ```
   */
  at(backup: string): BackupView<T, S> {
    return viewOf(
      this,
      DocumentCollection.prototype,
      [...Object.keys(documentReads), ...READS],
      backup,
    );
  }

  /**
   * Compares a backup with a later one, or with now: the documents that were added, changed and
   * removed, in insertion order, part by part. Reads little more than what differs.
   *
   * @param to Name of the other backup. @default the collection at the time of the call, which is
   *   saved
   * @throws {BackupError} `backup_unknown`, `backup_damaged`; {CollectionError} `schema_older`,
   *   `schema_newer`
   *
   * @example
   * ```ts
   * for await (const change of notes.diff(backup))
   *   if (change.type === 'changed') console.log(change.id, change.changes);
   * ```
   */
  async *diff(from: string, to?: string): AsyncGenerator<DocumentChange<T, S>, void, undefined> {
    yield* await this.call(
      (calls) => (sender, one, other) =>
        calls.diff<DocumentChange<T, S>>(sender, this.liveBase, one, other),
      [from, to],
    );
  }

  /**
   * Makes a {@link LiveQuery} of the matching documents.
   *
   * @param params As for {@link filter}. A function runs for new and changed documents.
   * @throws {OptionError} with the option; {CriteriaError}. Errors that the engine finds are the
   *   snapshot's `error`.
   *
   * @example
   * ```ts
   * const adults = users.live({ age: { $gte: 18 } }, { sort: { name: 1 }, limit: 20 });
   * const stop = adults.subscribe(({ status, data }) => console.log(status, data?.length));
   * ```
   */
  live<
    const L extends SelectOption<T, S> = undefined,
    const N extends IncludeOption<S> = undefined,
  >(
    params: Params<T, S>,
    options?: LiveOptions<T, S, L, N>,
  ): LiveQuery<readonly Found<T, S, L, N>[]> {
    return new LiveQuery(documentsSource(this.liveBase, params, options));
  }

  /**
   * Calls handlers for the documents that enter, change in and leave the result of a query, in any
   * tab: first for those that are there. The documents are those of {@link live}: frozen, as the
   * options ask.
   *
   * @returns a function that ends it: no handler is called again.
   * @throws {OptionError} with the option or handler; {CriteriaError}
   *
   * @example
   * ```ts
   * const stop = users.watch(
   *   { age: { $gte: 18 } },
   *   {
   *     enter: (user, isInitial) => console.log(isInitial ? 'there is' : 'here comes', user.name),
   *     update: (user, before) => console.log(before.name, 'is now', user.name),
   *     exit: (user) => console.log('there goes', user.name),
   *   },
   * );
   * ```
   */
  watch<
    const L extends SelectOption<T, S> = undefined,
    const N extends IncludeOption<S> = undefined,
  >(
    params: Params<T, S>,
    handlers: WatchHandlers<Found<T, S, L, N>>,
    options?: LiveOptions<T, S, L, N>,
  ): () => void {
    return watchQuery(this.live(params, options) as never, handlers as never);
  }

  /** Makes a {@link LiveQuery} of the number of matching documents; without params, of all. */
  liveCount(
    params: Params<T, S> = {} as Params<T, S>,
    options?: LiveCountOptions<T, S>,
  ): LiveQuery<number> {
    return new LiveQuery(documentsSource({ ...this.liveBase, count: true }, params, options));
  }

  /**
   * Makes a {@link LiveQuery} of what {@link aggregate} gives. Groups are kept up to date by
   * differences; what cannot be runs again after changes, at most ten times a second.
   *
   * @example
   * ```ts
   * const totals = orders.liveAggregate([
   *   { $group: { _id: '$city', total: { $sum: '$amount' } } },
   * ]);
   * totals.subscribe(({ data }) => console.log(data));
   * ```
   */
  liveAggregate<
    R extends object | undefined = undefined,
    const P extends readonly PipelineStage[] = readonly PipelineStage[],
  >(
    pipeline: P,
    options?: LiveAggregateOptions,
  ): LiveQuery<readonly AggregateResult<Stored<T, S>, P, R>[]> {
    const source = documentsSource({ ...this.liveBase, count: false }, {}, options);
    return new LiveQuery({ ...source, pipeline: copied(pipeline, 'pipeline') });
  }

  /**
   * Makes a {@link LiveQuery} of what {@link search} finds. It emits when documents or their order
   * change, not for each score.
   *
   * @example
   * ```ts
   * articles.liveSearch('heavy wat').subscribe(({ data }) => console.log(data));
   * ```
   */
  liveSearch<const L extends SelectOption<T, S> = undefined>(
    text: string,
    { throttle = 0, ...options }: LiveSearchOptions<T, S, L> = {},
  ): LiveQuery<readonly SearchHit<Found<T, S, L>>[]> {
    const source = documentsSource({ ...this.liveBase, count: false }, {}, { throttle });
    return new LiveQuery({ ...source, asked: [text, copied(options, 'params')] });
  }

  /**
   * Makes a {@link LiveQuery} of the document with this id, archived or not; `undefined` while
   * there is none.
   *
   * @throws {ValueError} `id_invalid`
   */
  liveDocument<const N extends IncludeOption<S> = undefined>(
    id: IdOf<T>,
    options?: { include?: N },
  ): LiveQuery<Found<T, S, undefined, N> | undefined> {
    checkId(id);
    return new LiveQuery({ ...options, ...this.liveBase, key: id, throttle: 0 });
  }
}
