import type { Criteria } from '../query/criteria/criteria-types.ts';
import type { PathList, Selected } from '../query/projection/select-types.ts';
import type { Sort } from '../query/sort/sort-types.ts';

/** What every document carries. */
interface AlwaysManaged {
  /** Unique identifier. */
  _id: string;
  /** `true` once the document was updated. */
  _updated: boolean;
  /** Whether the document is archived. */
  _archived: boolean;
}

/** What documents carry where the option for it is on. */
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
 * A stamp that the documents of a collection carry, by its field: `'_created_at'`. `'_created_at?'` is one whose
 * option is only known at run time.
 */
export type Stamp = StampField | `${StampField}?`;

/** The fields that Cairn manages on a document, all of which it ignores in what a caller passes. */
export type ManagedFields<S extends Stamp = never> = AlwaysManaged &
  ([S] extends [never]
    ? unknown
    : Pick<StampFields, Extract<S, StampField>> & Partial<Pick<StampFields, Untold<S>>>);

type Untold<S extends Stamp> = S extends `${infer Field extends StampField}?` ? Field : never;

type ManagedField = keyof AlwaysManaged | StampField;

/** Any document. */
export type AnyDocument = Record<string, unknown>;

/** The caller's own fields, of each member of a union. */
type OwnFields<T extends object> = T extends unknown
  ? Extract<keyof T, ManagedField> extends never
    ? T
    : Omit<T, ManagedField>
  : never;

/**
 * A document as it comes out: managed fields first, then the caller's.
 *
 * Of the stamps it has those in `S`, none if left out: `Stored<User, '_created_at'>`.
 */
export type Stored<T extends object = AnyDocument, S extends Stamp = never> = ManagedFields<S> &
  OwnFields<T>;

/** A document to insert; of the managed fields only `_id` counts. */
export type NewDocument<T extends object = AnyDocument> = OwnFields<T> &
  Partial<ManagedFields<StampField>>;

/** A function that gets a document and returns whether it matches. */
export type Predicate<T extends object = AnyDocument, S extends Stamp = never> = (
  document: Stored<T, S>,
) => unknown;

/** What to look for: criteria in the query language of MongoDB, or a predicate. */
export type Params<T extends object = AnyDocument, S extends Stamp = never> =
  | Criteria<Stored<T, S>>
  | Predicate<T, S>;

/** Options of everything that looks for documents. */
export interface MatchOptions<T extends object = AnyDocument, S extends Stamp = never> {
  /**
   * `false`: only documents that are not archived. `true`: both kinds. `'only'`: archived ones.
   * @default false
   */
  archived?: boolean | 'only' | undefined;
  /** Narrows what the params match; runs here, with its closures. */
  where?: Predicate<T, S> | undefined;
  /** Ends the search: the promise rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** A document, or as much of it as came along in a selection. */
type Anchor<D> = { readonly _id: string } & { readonly [Field in keyof D]?: unknown };

/** Paths to select from the documents of a collection, or `undefined` for whole documents. */
export type SelectOption<T extends object, S extends Stamp = never> =
  | PathList<Stored<T, S>>
  | undefined;

/** Options of what finds documents. `L` is the type of the list `select`; without one, documents come whole. */
export interface FindOptions<
  T extends object = AnyDocument,
  S extends Stamp = never,
  L extends SelectOption<T, S> = undefined,
> extends MatchOptions<T, S> {
  /** The order; documents that are equal in it, and all without it, come in order of insertion. */
  sort?: Sort<Stored<T, S>> | undefined;
  /** How many of the first matches are left out. @default 0 */
  skip?: number | undefined;
  /** How many there may be at most. */
  limit?: number | undefined;
  /** The paths to come along, with `_id`; whole documents if left out. */
  select?: L;
  /** The last document of the page before: results begin behind it. It needs `_id` and what is sorted by. */
  after?: Anchor<Stored<T, S>> | undefined;
}

/** What comes of a document when `L` is selected. */
export type Found<
  T extends object,
  S extends Stamp,
  L extends readonly string[] | undefined,
> = L extends readonly string[] ? Selected<Stored<T, S>, L> : Stored<T, S>;
