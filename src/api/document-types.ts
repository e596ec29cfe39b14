import type { Explained } from '../protocol/requests.ts';
import type { Criteria, ItemCriteria } from '../query/criteria/criteria-types.ts';
import type { Sort } from '../query/path/path-types.ts';
import type {
  KnownPaths,
  PathList,
  Projected,
  Selected,
  SelectObject,
} from '../query/projection.ts';
import type { Collation } from './options/collation.ts';
import type { Included, IncludeOption, Related, RelatedCriteria } from './relation-types.ts';

/** The plan of a query, with its costs. */
export interface Explanation extends Explained {
  /** Where the engine runs: in this thread, in a worker of this page, or in another tab. */
  readonly engine: 'thread' | 'worker' | 'tab';
  /** Milliseconds from the call to the result. */
  readonly total_ms: number;
}

/** Fields of every document. */
interface AlwaysManaged {
  /** Unique identifier. */
  _id: string;
  /** `true` once the document was updated. */
  _updated: boolean;
  /** Whether the document is archived. */
  _archived: boolean;
}

/** Fields of documents whose option is on. */
export interface StampFields {
  /** With `indicate_created_at`. */
  _created_at: Date;
  /** With `indicate_created_timestamp`: Unix milliseconds. */
  _created_timestamp: number;
  /** With `indicate_updated_at`, once the document was updated. */
  _updated_at?: Date;
  /** With `indicate_updated_timestamp`, once the document was updated: Unix milliseconds. */
  _updated_timestamp?: number;
  /** With `indicate_archived_at`, once the document was archived; unarchiving keeps it. */
  _archived_at?: Date;
  /** With `indicate_archived_timestamp`, once the document was archived: Unix milliseconds. */
  _archived_timestamp?: number;
  /** With `indicate_unarchived_at`, once the document was unarchived. */
  _unarchived_at?: Date;
  /** With `indicate_unarchived_timestamp`, once the document was unarchived: Unix milliseconds. */
  _unarchived_timestamp?: number;
}

type StampField = keyof StampFields;

/**
 * A stamp of a collection's documents, such as `'_created_at'`. `'_created_at?'` is a dynamic
 * stamp: its option is known only at run time.
 */
export type Stamp = StampField | `${StampField}?` | Shared | Related;

/** Beside the stamps: reads return frozen documents, with `shared_documents`. */
export type Shared = 'shared_documents';

/** The fields of a document that Cairn manages. It ignores them in arguments. */
export type ManagedFields<S extends Stamp = never> = AlwaysManaged &
  ([S] extends [never]
    ? unknown
    : Pick<StampFields, Extract<S, StampField>> & Partial<Pick<StampFields, Dynamic<S>>>);

type Dynamic<S extends Stamp> = S extends `${infer Field extends StampField}?` ? Field : never;

export type ManagedField = keyof AlwaysManaged | StampField;

/** Names what an id is of; of the type alone. */
declare const idOf: unique symbol;

/**
 * The id of a document of one kind. A document type that declares its `_id` by it opts in: methods
 * of its collection then take these ids, and neither those of another kind nor plain strings.
 *
 * @example
 * ```ts
 * interface Task {
 *   _id: Id<'Task'>;
 *   title: string;
 *   project: Id<'Project'>;
 * }
 * ```
 */
export type Id<Kind extends string> = string & { readonly [idOf]: Kind };

/** The type of the ids of documents: as `T` declares it by {@link Id}, else any string. */
export type IdOf<T extends object> = T extends { readonly _id: infer I extends Id<string> }
  ? I
  : string;

/** An `_id` that is declared by {@link Id}. */
type Identified<T extends object> = T extends { readonly _id: infer I extends Id<string> }
  ? { _id: I }
  : unknown;

/** Any document. */
export type AnyDocument = Record<string, unknown>;

/** The caller's own fields, for each member of a union. */
export type OwnFields<T extends object> = T extends unknown
  ? Extract<keyof T, ManagedField> extends never
    ? T
    : Omit<T, ManagedField>
  : never;

/**
 * A stored document: managed fields first, then the caller's.
 *
 * `S` are its stamps, none if left out: `Stored<User, '_created_at'>`.
 */
export type Stored<T extends object = AnyDocument, S extends Stamp = never> = ManagedFields<S> &
  Identified<T> &
  OwnFields<T>;

/**
 * A document that a read returns: with `shared_documents` read-only on every level, otherwise the
 * caller's own.
 */
export type Read<T extends object = AnyDocument, S extends Stamp = never> = [
  Extract<S, Shared>,
] extends [never]
  ? Stored<T, S>
  : DeepReadonly<Stored<T, S>>;

/** A document to insert; `_id` is optional, other managed fields are ignored. */
export type NewDocument<T extends object = AnyDocument> = OwnFields<T> &
  Partial<Identified<T>> &
  IgnoredFields;

/** A document to store. With `shared_documents` what a read returned fits too. */
export type Given<T extends object, S extends Stamp> = [Extract<S, Shared>] extends [never]
  ? NewDocument<T>
  : DeepReadonly<NewDocument<T>>;

/** Managed fields in an argument. */
export type IgnoredFields = Partial<ManagedFields<StampField>>;

/** Whether a document matches. */
export type Predicate<T extends object = AnyDocument, S extends Stamp = never> = (
  document: Stored<T, S>,
) => unknown;

/** A query: criteria in MongoDB's query language, or a predicate. */
export type Params<T extends object = AnyDocument, S extends Stamp = never> =
  | (Criteria<Stored<T, S>> & RelatedCriteria<S>)
  | Predicate<T, S>;

/** Options of all queries. */
export interface MatchOptions<T extends object = AnyDocument, S extends Stamp = never> {
  /**
   * `false`: only documents that are not archived. `true`: both kinds. `'only'`: archived ones.
   * @default false
   */
  archived?: boolean | 'only' | undefined;
  /**
   * The order and equality of strings, in criteria and `sort`; a string is a locale. An index
   * serves the query if it has the same collation. Patterns take no part.
   * @default by code unit
   */
  collation?: Collation | undefined;
  /** Narrows the matches of the params; runs in the calling thread, with its closure. */
  where?: Predicate<T, S> | undefined;
  /** Aborts the query: the promise rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** Options of `patch`. */
export interface PatchOptions {
  /**
   * Which items of arrays `$[name]` in the paths of the changes stands for: criteria for items, one
   * object for each name, such as `{ 'line.sku': 'a' }` for `'lines.$[line].count'`.
   */
  array_filters?: readonly object[] | undefined;
}

/** Options of `patchOne`. */
export interface PatchOneOptions<T extends object = AnyDocument, S extends Stamp = never>
  extends MatchOptions<T, S>,
    PatchOptions {
  /** Which of several matches is the first. @default insertion order */
  sort?: Sort<Stored<T, S>> | undefined;
  /**
   * Inserts a document where none matches: the values that the criteria ask to be equal, and the
   * changes, `$setOnInsert` included. Two at once insert one. Not with a function.
   * @default false
   */
  upsert?: boolean | undefined;
}

/** A document of any origin, or its `_id` alone. */
type Anchor<D extends { readonly _id: string }> = Pick<D, '_id'> & {
  readonly [Field in keyof D]?: unknown;
};

/**
 * What to return of the documents of a collection: paths, an object that keeps fields or leaves
 * them out, or `undefined` for whole documents.
 */
export type SelectOption<T extends object, S extends Stamp = never> =
  | PathList<Stored<T, S>>
  | SelectObject<Stored<T, S>>
  | undefined;

/**
 * Options of queries that return documents. `L` is the type of the list `select`; without it
 * documents are whole.
 */
export interface FindOptions<
  T extends object = AnyDocument,
  S extends Stamp = never,
  L extends SelectOption<T, S> = undefined,
  N extends IncludeOption<S> = undefined,
> extends MatchOptions<T, S> {
  /**
   * The documents of other collections to return with each document, by the name of their relation:
   * `true`, or an object with `where`, `sort`, `skip`, `limit`, `select`, `archived` and `include`,
   * which count for each document. All are as of one instant.
   */
  include?: N;
  /** The sort order; documents that compare equal keep insertion order. @default insertion order */
  sort?: Sort<Stored<T, S>> | undefined;
  /** Number of matches to skip. @default 0 */
  skip?: number | undefined;
  /** Maximum number of results. @default unlimited */
  limit?: number | undefined;
  /**
   * Paths to return, besides `_id`; or an object: `{ title: 1 }` keeps, `{ body: 0 }` leaves out,
   * `{ list: { $slice: 3 } }` and `{ list: { $elemMatch: criteria } }` take items.
   * @default whole documents
   */
  select?: L & KnownPaths<Stored<T, S>, L>;
  /**
   * The document that results start after: the last of a page, any other, a copy, or its `_id`
   * alone. Fields of `sort` that it lacks are read from the stored document.
   */
  after?: Anchor<Stored<T, S>> | undefined;
}

/** A result document when `L` is selected. */
export type Found<
  T extends object,
  S extends Stamp,
  L,
  N = undefined,
> = (L extends readonly string[]
  ? AsRead<S, Selected<Stored<T, S>, L>>
  : L extends object
    ? AsRead<S, Projected<Stored<T, S>, L>>
    : Read<T, S>) &
  Included<S, N>;

/** With `shared_documents` read-only. */
type AsRead<S extends Stamp, D> = [Extract<S, Shared>] extends [never] ? D : DeepReadonly<D>;

/** What document collections have and other collections lack. */
interface Documents {
  insert(document: never): Promise<object>;
}

/** The type of the documents of a collection: `DocumentOf<typeof users>`. */
export type DocumentOf<C extends Documents> = C extends {
  insert(document: never): Promise<infer D>;
}
  ? D
  : never;

/**
 * The type of the criteria of a collection, for code that builds them step by step.
 *
 * @example
 * ```ts
 * const criteria: CriteriaOf<typeof users> = {};
 * if (city) criteria['address.city'] = city;
 * await users.filter(criteria);
 * ```
 */
export type CriteriaOf<C extends Documents> = Criteria<DocumentOf<C>>;

/** The type of the sort order of a collection, like {@link CriteriaOf}. */
export type SortOf<C extends Documents> = Sort<DocumentOf<C>>;

/** What has no fields of its own, or cannot be frozen. */
type Leaf =
  | string
  | Date
  | RegExp
  | Blob
  | CryptoKey
  | ArrayBuffer
  | ArrayBufferView
  | ((...args: never) => unknown);

/** A value that is read-only on every level. */
export type DeepReadonly<T> = unknown extends T
  ? T
  : T extends Leaf
    ? T
    : T extends ReadonlyMap<infer K, infer V>
      ? ReadonlyMap<DeepReadonly<K>, DeepReadonly<V>>
      : T extends ReadonlySet<infer I>
        ? ReadonlySet<DeepReadonly<I>>
        : T extends object
          ? { readonly [Field in keyof T]: DeepReadonly<T[Field]> }
          : T;

/** A query for items of an array: a function, criteria, or a value that items equal. */
export type ItemParams<I = unknown> = ((item: I) => unknown) | ItemCriteria<I> | I;

/** A value that differs between two versions of a document. */
export interface FieldChange {
  /** Dotted path, such as `'address.city'`; `''` for a whole value. */
  readonly path: string;
  /** Left out where the field was missing. */
  readonly before?: unknown;
  /** Left out where the field is gone. */
  readonly after?: unknown;
}

/** What `diff` says of something that only one side has, or that differs. */
type Change<D> =
  | { readonly type: 'added'; readonly id: string; readonly after: D }
  | { readonly type: 'removed'; readonly id: string; readonly before: D }
  | {
      readonly type: 'changed';
      readonly id: string;
      readonly before: D;
      readonly after: D;
      /** The differences, managed fields included. */
      readonly changes: readonly FieldChange[];
    };

/** A document that was added, changed or removed. */
export type DocumentChange<T extends object = AnyDocument, S extends Stamp = never> = Change<
  Stored<T, S>
>;

/** A record of a key-value collection that was added, changed or removed; `id` is its key. */
export type ValueChange<V = unknown> = Change<V>;
