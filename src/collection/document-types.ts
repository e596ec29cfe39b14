import type { Criteria } from '../query/criteria-types.ts';

/** The fields that Cairn manages on a document, all of which it ignores in what a caller passes. */
export interface ManagedFields {
  /** Unique identifier. */
  _id: string;
  /** `true` once the document was updated. */
  _updated: boolean;
  /** Whether the document is archived. */
  _archived: boolean;
  /** With `indicate_created_at`. */
  _created_at?: Date;
  /** With `indicate_created_timestamp`: Unix milliseconds. */
  _created_timestamp?: number;
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

/** Any document. */
export type AnyDocument = Record<string, unknown>;

/** A document as it comes out: managed fields first, then the caller's. */
export type Stored<T extends object = AnyDocument> = ManagedFields & Omit<T, keyof ManagedFields>;

/** A document to insert; of the managed fields only `_id` counts. */
export type NewDocument<T extends object = AnyDocument> = Omit<T, keyof ManagedFields> &
  Partial<ManagedFields>;

/** A function that gets a document and returns whether it matches. */
export type Predicate<T extends object = AnyDocument> = (document: Stored<T>) => unknown;

/** What to look for: criteria in the query language of MongoDB, or a predicate. */
export type Params<T extends object = AnyDocument> = Criteria<Stored<T>> | Predicate<T>;

/** Options of everything that looks for documents. */
export interface FindOptions<T extends object = AnyDocument> {
  /**
   * `false`: only documents that are not archived. `true`: both kinds. `'only'`: archived ones.
   * @default false
   */
  archived?: boolean | 'only' | undefined;
  /** What to sort by, the first path first; equal ones stay in the order of insertion. */
  sort?: { readonly [path: string]: 1 | -1 } | undefined;
  /** How many to leave out at the beginning. @default 0 */
  skip?: number | undefined;
  /** How many at the most. @default all */
  limit?: number | undefined;
  /** Dotted paths to keep of each document; `_id` always comes along. @default everything */
  select?: readonly string[] | undefined;
  /** A function that narrows the criteria further. It runs here, with its closures. */
  where?: Predicate<T> | undefined;
  /**
   * The last document of the page before, as a call with `limit` returned it: the page begins behind it,
   * whatever was inserted or deleted meanwhile.
   */
  after?: { readonly _id: string } | undefined;
  /** Aborts the call: it rejects with the signal's reason, and the engine gives up. */
  signal?: AbortSignal | undefined;
}
