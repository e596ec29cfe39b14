import type { AnyDocument } from './document-types.ts';
import type { ValueOf } from './expression-types.ts';
import type { LiveCountOptions } from './live-options.ts';
import type { Collation } from './options/collation.ts';

/** Options of `aggregate` and `distinct`. */
export interface AggregateOptions {
  /**
   * Whether archived documents count too, or only they.
   * @default false
   */
  archived?: boolean | 'only' | undefined;
  /** The order and equality of strings in `$match` and `$sort`, as of `filter`. */
  collation?: Collation | undefined;
  /** Aborts the call: the promise rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** Options of `liveAggregate`. */
export type LiveAggregateOptions = Omit<AggregateOptions, 'signal'> &
  Pick<LiveCountOptions<AnyDocument>, 'throttle'>;

type Fields = Readonly<Record<string, unknown>>;

/**
 * A stage of a pipeline: one of these. The engine checks what is in it, as pipelines are often put
 * together at run time.
 */
export interface PipelineStage {
  readonly $match?: object | undefined;
  readonly $project?: Fields | undefined;
  readonly $set?: Fields | undefined;
  readonly $addFields?: Fields | undefined;
  readonly $unset?: string | readonly string[] | undefined;
  readonly $replaceRoot?: { readonly newRoot: unknown } | undefined;
  readonly $replaceWith?: unknown;
  readonly $unwind?: string | (Fields & { readonly path: string }) | undefined;
  readonly $group?: Fields | undefined;
  readonly $sort?: Readonly<Record<string, number | undefined>> | undefined;
  readonly $limit?: number | undefined;
  readonly $skip?: number | undefined;
  readonly $count?: string | undefined;
  readonly $sortByCount?: unknown;
  readonly $facet?: Readonly<Record<string, readonly object[] | undefined>> | undefined;
  readonly $lookup?: (Fields & { readonly from: string; readonly as: string }) | undefined;
  readonly $unionWith?: string | (Fields & { readonly coll: string }) | undefined;
  readonly $setWindowFields?: (Fields & { readonly output: Fields }) | undefined;
  readonly $bucket?:
    | (Fields & { readonly groupBy: unknown; readonly boundaries: readonly unknown[] })
    | undefined;
  readonly $bucketAuto?:
    | (Fields & { readonly groupBy: unknown; readonly buckets: number })
    | undefined;
}

/** What `aggregate` gives: `R` where it is named, else what the stages of `P` make of `D`. */
export type AggregateResult<D, P extends readonly object[], R> = [R] extends [undefined]
  ? Piped<D, P>
  : R;

/** Any document, where the types of the stages tell no more. */
type Made = Record<string, unknown>;

type Piped<D, P extends readonly object[]> = P extends readonly []
  ? D
  : P extends readonly [infer First, ...infer Rest extends readonly object[]]
    ? Piped<AfterStage<D, First>, Rest>
    : Made;

type AfterStage<D, S> = S extends
  | { readonly $match: unknown }
  | { readonly $sort: unknown }
  | { readonly $limit: unknown }
  | { readonly $skip: unknown }
  ? D
  : S extends { readonly $group: infer G extends { readonly _id: unknown } }
    ? { _id: OrNull<ValueOf<D, G['_id']>> } & Totals<D, Omit<G, '_id'>>
    : S extends { readonly $set: infer G } | { readonly $addFields: infer G }
      ? Added<D, G>
      : S extends { readonly $project: infer G }
        ? ProjectedBy<D, G>
        : S extends { readonly $count: infer Name extends string }
          ? { [K in Name]: number }
          : S extends { readonly $sortByCount: infer E }
            ? { _id: OrNull<ValueOf<D, E>>; count: number }
            : S extends { readonly $unset: infer Names }
              ? Omit<D, Names extends readonly (infer Name)[] ? Name & string : Names & string>
              : S extends { readonly $unwind: `$${infer Name}` }
                ? Unwound<D, Name>
                : S extends { readonly $unwind: { readonly path: string } }
                  ? Made
                  : AfterRareStage<D, S>;

type AfterRareStage<D, S> = S extends { readonly $facet: infer F }
  ? { -readonly [K in keyof F]: F[K] extends readonly object[] ? Piped<D, F[K]>[] : unknown[] }
  : S extends
        | { readonly $replaceRoot: { readonly newRoot: infer E } }
        | { readonly $replaceWith: infer E }
    ? ValueOf<D, E> extends infer V extends object
      ? V
      : Made
    : S extends { readonly $bucket: infer B }
      ? { _id: unknown } & Buckets<D, B>
      : S extends { readonly $lookup: { readonly as: infer Name extends string } }
        ? Omit<D, Name> & { [K in Name]: Made[] }
        : S extends { readonly $setWindowFields: { readonly output: infer G } }
          ? Omit<D, keyof Plain<G>> & { -readonly [K in keyof Plain<G>]: unknown }
          : S extends { readonly $bucketAuto: infer B }
            ? { _id: { min: unknown; max: unknown } } & Buckets<D, B>
            : Made;

type Buckets<D, B> = B extends { readonly output: infer Output }
  ? Totals<D, Output>
  : { count: number };

type OrNull<V> = undefined extends V ? Exclude<V, undefined> | null : V;

type Totals<D, G> = { -readonly [K in keyof G]: TotalOf<D, G[K]> };

type TotalOf<D, A> = A extends { readonly $sum: unknown } | { readonly $count: unknown }
  ? number
  : A extends
        | { readonly $avg: unknown }
        | { readonly $stdDevPop: unknown }
        | { readonly $stdDevSamp: unknown }
    ? number | null
    : A extends
          | { readonly $min: infer E }
          | { readonly $max: infer E }
          | { readonly $first: infer E }
          | { readonly $last: infer E }
      ? Exclude<ValueOf<D, E>, undefined> | null
      : A extends { readonly $push: infer E } | { readonly $addToSet: infer E }
        ? Exclude<ValueOf<D, E>, undefined>[]
        : unknown;

/** The fields that are named without a dot. */
type Plain<G> = { [K in keyof G as K extends `${string}.${string}` ? never : K]: G[K] };

type Added<D, G> = Omit<D, keyof Plain<G>> & {
  -readonly [K in keyof Plain<G>]: ValueOf<D, Plain<G>[K]>;
};

type LeftOut = 0 | false;

type Kept = 1 | true;

type ProjectedBy<D, G> = [G[Exclude<keyof G, '_id'>]] extends [LeftOut]
  ? Omit<D, { [K in keyof G]: G[K] extends LeftOut ? K : never }[keyof G]>
  : (G extends { readonly _id: unknown } ? unknown : Pick<D, '_id' & keyof D>) & {
      -readonly [K in keyof Plain<G> as G[K] extends LeftOut ? never : K]: G[K] extends Kept
        ? K extends keyof D
          ? D[K]
          : unknown
        : ValueOf<D, G[K]>;
    };

type Unwound<D, Name extends string> = Name extends keyof D
  ? Omit<D, Name> & { [K in Name]: ItemOf<Exclude<D[K & keyof D], null | undefined>> }
  : D;

type ItemOf<V> = V extends readonly (infer I)[] ? I : V;
