import type {
  DocumentChange,
  Explanation,
  FindOptions,
  Found,
  MatchOptions,
  Params,
  Read,
  SelectOption,
  Stamp,
} from '../../api/document-types.ts';
import type { LiveCountOptions, LiveOptions } from '../../api/live-options.ts';
import type { Result } from '../../async/coroutine.ts';
import type { DocumentCalls } from '../calls/document-calls.ts';
import type { DocumentStream } from '../find/document-stream.ts';
import { LiveQuery } from '../live/live-query.ts';
import { documentsSource } from '../live/live-source.ts';
import { checkId } from '../sending/call-arguments.ts';
import { type DocumentReads, type OpenView, viewOf } from './backup-view.ts';
import { CollectionHandle } from './collection-handle.ts';
import type { SyncDocuments } from './sync-documents.ts';

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
    Pick<DocumentQueries<T, S, T>, DocumentReads> {}

/** The methods of a document collection that read. */
export abstract class DocumentQueries<
  T extends object,
  S extends Stamp,
  I extends object,
> extends CollectionHandle<DocumentCalls<T, S>, SyncDocuments<T, S, I>> {
  /** Finds the document with this id, archived or not; `undefined` if there is none. */
  get(id: string): Promise<Read<T, S> | undefined> {
    return this.call(
      [id],
      (calls, sender, key) => calls.get(sender, key) as Result<Read<T, S> | undefined>,
    );
  }

  /**
   * Finds the documents with these ids, archived or not, as of one instant.
   *
   * @returns the documents in the order of the ids, `undefined` where there is none.
   */
  getMany(ids: readonly string[]): Promise<(Read<T, S> | undefined)[]> {
    return this.call(
      [ids],
      (calls, sender, list) => calls.getMany(sender, list) as Result<Read<T, S>[]>,
    );
  }

  /**
   * Finds the first matching document, in insertion order; `undefined` if there is none.
   *
   * @param params Criteria in MongoDB's query language, or a function of a document. The function
   *   runs in the calling thread, with its closure; documents reach it in chunks.
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
   * Explains how `filter` finds its documents: the index, the keys and documents examined, the
   * engine and the time. Runs the query, without its functions, and returns no documents.
   *
   * @example
   * ```ts
   * const explained = await users.explain({ age: { $gt: 60 } });
   * const { plan, keys_examined, documents_examined, returned } = explained;
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
    return viewOf(this, DocumentQueries.prototype, backup);
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
    yield* await this.call([from, to], (calls, sender, one, other) =>
      calls.diff<DocumentChange<T, S>>(sender, this.liveBase, one, other),
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
   * Makes a {@link LiveQuery} of the document with this id, archived or not; `undefined` while
   * there is none.
   *
   * @throws {ValueError} `id_invalid`
   */
  liveDocument(id: string): LiveQuery<Read<T, S> | undefined> {
    checkId(id);
    return new LiveQuery({ ...this.liveBase, key: id, throttle: 0 });
  }
}
