import type {
  AggregateOptions,
  AggregateResult,
  PipelineStage,
} from '../../api/aggregate-types.ts';
import type {
  AnyDocument,
  FindOptions,
  Found,
  Given,
  IdOf,
  MatchOptions,
  NewDocument,
  Params,
  PatchOneOptions,
  PatchOptions,
  Read,
  SelectOption,
  Stamp,
  Stored,
} from '../../api/document-types.ts';
import type {
  HybridHits,
  HybridOptions,
  NearestExplanation,
  NearestHits,
  NearestOptions,
} from '../../api/nearest-types.ts';
import type { IncludeOption, RelatedCriteria } from '../../api/relation-types.ts';
import type {
  SearchExplanation,
  SearchHits,
  SearchOptions,
  Suggestion,
} from '../../api/search-types.ts';
import type { Patch } from '../../api/update-types.ts';
import type { Criteria } from '../../query/criteria/criteria-types.ts';
import type { Item, Path, ValueAt } from '../../query/path/path-types.ts';
import { copyList } from '../sending/call-arguments.ts';
import type { DocumentCalls } from './document-calls.ts';
import type { Methods, Returns, Way } from './methods.ts';
import type { ModifyOptions } from './modify-attempts.ts';

/** The methods of a document collection that read; backups have them too. */
export interface DocumentReads<T extends object, S extends Stamp, W extends Way> {
  /** Finds the document with this id, archived or not; `undefined` if there is none. */
  get(id: IdOf<T>): Returns<W, Read<T, S> | undefined>;

  /** The same, with documents of other collections. */
  get<const N extends IncludeOption<S>>(
    id: IdOf<T>,
    options: { include?: N },
  ): Returns<W, Found<T, S, undefined, N> | undefined>;

  /**
   * Finds the documents with these ids, archived or not, as of one instant.
   *
   * @returns the documents in the order of the ids, `undefined` where there is none.
   */
  getMany<const N extends IncludeOption<S> = undefined>(
    ids: readonly IdOf<T>[],
    options?: { include?: N },
  ): Returns<W, (Found<T, S, undefined, N> | undefined)[]>;

  /**
   * Finds the first matching document, in insertion order; `undefined` if there is none.
   *
   * @param params Criteria in MongoDB's query language, or a function of a document. The function
   *   runs in the calling thread, with its closure; documents reach it in chunks.
   * @throws {CriteriaError} with the path in the criteria.
   */
  find<
    const L extends SelectOption<T, S> = undefined,
    const N extends IncludeOption<S> = undefined,
  >(
    params: Params<T, S>,
    options?: FindOptions<T, S, L, N>,
  ): Returns<W, Found<T, S, L, N> | undefined>;

  /** Finds all matching documents, in insertion order. */
  filter<
    const L extends SelectOption<T, S> = undefined,
    const N extends IncludeOption<S> = undefined,
  >(params: Params<T, S>, options?: FindOptions<T, S, L, N>): Returns<W, Found<T, S, L, N>[]>;

  /** Whether a document matches. */
  has(params: Params<T, S>, options?: MatchOptions<T, S>): Returns<W, boolean>;

  /** Counts the matching documents; without params, all. */
  count(params?: Params<T, S>, options?: FindOptions<T, S, SelectOption<T, S>>): Returns<W, number>;

  /**
   * Runs the stages of a pipeline in MongoDB's aggregation language, in the engine.
   *
   * @returns plain objects.
   * @throws {CriteriaError} with the place, such as `pipeline[2].$group.total`;
   *   `aggregate_too_large`.
   *
   * @example
   * ```ts
   * await orders.aggregate([
   *   { $match: { status: 'paid' } },
   *   { $group: { _id: '$city', total: { $sum: '$amount' } } },
   *   { $sort: { total: -1 } },
   * ]);
   * ```
   */
  aggregate<
    R extends object | undefined = undefined,
    const P extends readonly PipelineStage[] = readonly PipelineStage[],
  >(pipeline: P, options?: AggregateOptions): Returns<W, AggregateResult<Stored<T, S>, P, R>[]>;

  /**
   * Searches words in the collection's text index, best hits first. A text has words, `"phrases"`
   * and `-exclusions`; case and accents do not matter.
   *
   * @throws {OptionError} `option_missing` without a text index
   *
   * @example
   * ```ts
   * await articles.search('hydrgen "heavy water" -atom', { fuzzy: true, highlight: true });
   * ```
   */
  search<const L extends SelectOption<T, S> = undefined>(
    text: string,
    options?: SearchOptions<T, S, L>,
  ): Returns<W, SearchHits<T, S, L>>;

  /** Completes the last word of a text by words of the text index, the most frequent first. */
  suggest(
    text: string,
    options?: Pick<SearchOptions<T, S>, 'limit' | 'signal'>,
  ): Returns<W, Suggestion[]>;

  /** Explains how {@link search} finds its hits. Runs the search, and returns no documents. */
  explainSearch(text: string, options?: SearchOptions<T, S>): Returns<W, SearchExplanation>;

  /**
   * Finds the documents whose vectors are nearest to a vector, the nearest first.
   *
   * @throws {OptionError} `option_missing` without a vector index; {ValueError} `vector_invalid`
   *
   * @example
   * ```ts
   * await articles.nearest(await embed('heavy water'), { k: 5, criteria: { language: 'en' } });
   * ```
   */
  nearest<const L extends SelectOption<T, S> = undefined>(
    vector: ArrayLike<number>,
    options?: NearestOptions<T, S, L>,
  ): Returns<W, NearestHits<T, S, L>>;

  /** Explains how {@link nearest} finds its hits. Runs the search, and returns no documents. */
  explainNearest(
    vector: ArrayLike<number>,
    options?: NearestOptions<T, S>,
  ): Returns<W, NearestExplanation>;

  /**
   * Searches words and the nearest vectors, and makes one result of both by reciprocal rank fusion:
   * a document that both find comes first.
   *
   * @throws as {@link search} and {@link nearest}
   */
  hybrid<const L extends SelectOption<T, S> = undefined>(
    text: string,
    vector: ArrayLike<number>,
    options?: HybridOptions<T, S, L>,
  ): Returns<W, HybridHits<T, S, L>>;

  /**
   * The distinct values at a path of the matching documents, of arrays their items, in the order of
   * their first documents.
   */
  distinct<const P extends Path<Stored<T, S>>>(
    path: P,
    criteria?: Criteria<Stored<T, S>> & RelatedCriteria<S>,
    options?: AggregateOptions,
  ): Returns<W, Exclude<Item<ValueAt<Stored<T, S>, P>>, undefined>[]>;
}

/**
 * The methods of a document collection that its façades share: the collection, its `sync`,
 * and transactions. The rows below name their coroutines.
 */
export interface DocumentMethods<T extends object, S extends Stamp, I extends object, W extends Way>
  extends DocumentReads<T, S, W> {
  /**
   * Inserts a document. Its `_id` counts if it has one; other managed fields are ignored.
   *
   * @returns the stored document: managed fields first, then the caller's.
   * @throws {ValueError} `id_taken`; or with the path of a value that cannot be stored.
   */
  insert(document: Given<I, S>): Returns<W, Stored<T, S>>;

  /**
   * Inserts many documents, all or none. A large list is encoded in slices, which keeps the page
   * responsive: do not change its documents until the promise settles.
   *
   * @throws {ValueError} with the path of the invalid value, such as `documents[3].name`.
   */
  insertMany(documents: readonly Given<I, S>[]): Returns<W, Stored<T, S>[]>;

  /** Replaces the document with this `_id`, like `update`, or inserts it. */
  upsert(document: Given<I, S>): Returns<W, Stored<T, S>>;

  /**
   * Replaces or inserts many documents, like {@link upsert}, all or none. Of two with one `_id` the
   * later counts.
   */
  upsertMany(documents: readonly Given<I, S>[]): Returns<W, Stored<T, S>[]>;

  /**
   * Replaces the caller's fields of a document. There are no operators: `{ $set: … }` is a field of
   * that name.
   *
   * @returns the document; `undefined` if no document has this id.
   */
  update(id: IdOf<T>, document: Given<I, S>): Returns<W, Stored<T, S> | undefined>;

  /**
   * Changes a document: sets fields, by name or by dotted path such as `'address.city'`, or applies
   * update operators. `undefined` as a new value is stored, it does not remove the field.
   *
   * @returns the document; `undefined` if no document has this id.
   * @throws {ValueError} `update_invalid` with the path in the changes; {KeyError} `kind_mismatch`
   *   if the stored value is of another kind than the change needs, `paths_conflict` if a path
   *   begins with another; {CriteriaError} in `$pull`.
   *
   * @example
   * ```ts
   * await users.patch(ada._id, { age: 37, 'address.city': 'Oslo' });
   * await users.patch(ada._id, { $inc: { age: 1 }, $push: { tags: 'climber' } });
   * ```
   */
  patch(
    id: IdOf<T>,
    changes: Patch<T>,
    options?: PatchOptions,
  ): Returns<W, Stored<T, S> | undefined>;

  /**
   * Changes all matching documents as {@link patch} does, all or none.
   *
   * @returns how many matched.
   *
   * @example
   * ```ts
   * await users.patchMany({ city: 'Oslo' }, { $inc: { visits: 1 } });
   * ```
   */
  patchMany(
    params: Params<T, S>,
    changes: Patch<T>,
    options?: MatchOptions<T, S> & PatchOptions,
  ): Returns<W, number>;

  /**
   * Finds the first matching document and changes it as {@link patch} does, in one step: of two
   * tabs that ask at once, the second gets the next match.
   *
   * @returns the document after the change; `undefined` if none matches. With `upsert`, the
   *   document that was inserted then: the equal values of the criteria, the changes on top.
   * @throws {ValueError} `id_taken` if the criteria name the `_id` of a document that does not
   *   match otherwise; as {@link patch}.
   *
   * @example
   * ```ts
   * const job = await jobs.patchOne({ state: 'new' }, { state: 'taken' }, { sort: { due: 1 } });
   * ```
   */
  patchOne(
    params: Params<T, S>,
    changes: Patch<T>,
    options?: PatchOneOptions<T, S>,
  ): Returns<W, Stored<T, S> | undefined>;

  /**
   * Replaces a document by what a function makes of it. The function gets a copy and may be async,
   * except in `sync`. It runs again if somebody changed the document meanwhile, so its side effects
   * must bear repetition. Where update operators suffice, they are faster.
   *
   * @param change Returns the new content; `undefined` changes nothing.
   * @returns the document; `undefined` if no document has this id.
   * @throws {TransactionError} `transaction_conflict` after too many conflicts; or what the
   *   function throws.
   *
   * @example
   * ```ts
   * await users.modify(ada._id, (user) => ({ ...user, name: user.name.trim() }));
   * ```
   */
  modify(
    id: IdOf<T>,
    change: (
      document: Stored<T, S>,
    ) => NewDocument<I> | undefined | Returns<W, NewDocument<I> | undefined>,
    options?: ModifyOptions,
  ): Returns<W, Stored<T, S> | undefined>;

  /**
   * Archives a document. Resolves with `false` if no document has this id, or it is archived
   * already.
   */
  archive(id: IdOf<T>): Returns<W, boolean>;

  /**
   * Unarchives a document. Resolves with `false` if no document has this id, or it is not archived.
   */
  unarchive(id: IdOf<T>): Returns<W, boolean>;

  /** Deletes a document. Resolves with `false` if no document has this id. */
  delete(id: IdOf<T>): Returns<W, boolean>;

  /** Deletes the matching documents. Resolves with their number. */
  deleteMany(params: Params<T, S>, options?: MatchOptions<T, S>): Returns<W, number>;

  /**
   * Deletes the first matching document, in one step.
   *
   * @returns the document as it was; `undefined` if none matches.
   *
   * @example
   * ```ts
   * const next = await queue.deleteOne({}, { sort: { due: 1 } });
   * ```
   */
  deleteOne(
    params: Params<T, S>,
    options?: MatchOptions<T, S> & Pick<FindOptions<T, S>, 'sort'>,
  ): Returns<W, Stored<T, S> | undefined>;
}

type Calls = DocumentCalls<AnyDocument>;

/** How the methods run that read. docs/decisions/047-three-rooms.md says why methods are rows. */
export const documentReads: Methods<Calls, DocumentReads<AnyDocument, never, 'sync'>> = {
  get: { start: (calls) => calls.get },
  getMany: { start: (calls) => calls.getMany },
  find: { start: (calls) => calls.find, options: 1 },
  filter: { start: (calls) => calls.filter, options: 1 },
  has: { start: (calls) => calls.has, options: 1 },
  count: { start: (calls) => calls.count, options: 1 },
  aggregate: { start: (calls) => calls.aggregate, options: 1 },
  search: { start: (calls) => calls.search, options: 1 },
  suggest: { start: (calls) => calls.suggest, options: 1 },
  explainSearch: { start: (calls) => calls.explainSearch, options: 1 },
  nearest: { start: (calls) => calls.nearest, options: 1 },
  explainNearest: { start: (calls) => calls.explainNearest, options: 1 },
  hybrid: { start: (calls) => calls.hybrid, options: 2 },
  distinct: { start: (calls) => calls.distinct, options: 2 },
};

/** How the methods run. */
export const documentMethods: Methods<
  Calls,
  DocumentMethods<AnyDocument, never, AnyDocument, 'sync'>
> = {
  ...documentReads,
  insert: { start: (calls) => calls.insert },
  insertMany: { start: (calls) => calls.insertMany, exclusive: true, copy: copyList },
  upsert: { start: (calls) => calls.upsert },
  upsertMany: { start: (calls) => calls.upsertMany, exclusive: true, copy: copyList },
  update: { start: (calls) => calls.update },
  patch: { start: (calls) => calls.patch, options: 2 },
  patchMany: {
    start: (calls) => calls.patchMany,
    options: 2,
    exclusive: (params, _, options) => hasFunction(params, options),
  },
  patchOne: {
    start: (calls) => calls.patchOne,
    options: 2,
    exclusive: (params, _, options) => hasFunction(params, options),
  },
  modify: { start: (calls) => calls.modify, options: 2 },
  archive: { start: (calls) => calls.archive },
  unarchive: { start: (calls) => calls.unarchive },
  delete: { start: (calls) => calls.delete },
  deleteMany: { start: (calls) => calls.deleteMany, options: 1, exclusive: hasFunction },
  deleteOne: { start: (calls) => calls.deleteOne, options: 1, exclusive: hasFunction },
};

/** Whether a function of the caller chooses the documents, between two requests. */
function hasFunction(params: unknown, options: { readonly where?: unknown } | undefined): boolean {
  return typeof params === 'function' || options?.where !== undefined;
}
