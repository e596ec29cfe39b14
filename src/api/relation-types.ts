import type { Criteria } from '../query/criteria/criteria-types.ts';
import type { Sort } from '../query/path/path-types.ts';
import type { PathList, Projected, Selected, SelectObject } from '../query/projection.ts';

/**
 * Beside the stamps: the relations of a collection, by name the type of its partner, in an array
 * where there may be many. `{ customer: typeof customers; visits: (typeof visits)[] }`
 */
export interface Related<R extends object = object> {
  readonly related: R;
}

/** Relations that the compiler does not know by name. */
export interface AnyRelations {
  readonly [name: string]: unknown;
}

/** The relations among stamps. */
export type RelationsOf<S> = S extends Related<infer R> ? R : never;

type PartnerIn<V> = V extends readonly (infer C)[] ? C : V;

/** The documents of a partner. */
type PartnerDocument<C> = C extends { insert(document: never): Promise<infer D> }
  ? D
  : Record<string, unknown>;

type PartnerRelations<C> = C extends { '~relations'?(relations: infer R): void } ? R : never;

/** Conditions on the partners of a relation. */
interface PartnerCondition<C> {
  /** A partner matches. */
  readonly $some?: PartnerCriteria<C>;
  /** No partner matches; none is there, perhaps. */
  readonly $none?: PartnerCriteria<C>;
  /** All partners match; none is there, perhaps. */
  readonly $every?: PartnerCriteria<C>;
}

type PartnerCriteria<C> = Criteria<PartnerDocument<C>> & CriteriaOver<PartnerRelations<C>>;

type CriteriaOver<R> = [R] extends [never]
  ? unknown
  : { readonly [K in keyof R]?: string extends K ? unknown : PartnerCondition<PartnerIn<R[K]>> };

/** Criteria that name relations. */
export type RelatedCriteria<S> = CriteriaOver<RelationsOf<S>>;

/** What to return of a partner. */
export interface IncludeOptions<C> {
  readonly where?: PartnerCriteria<C>;
  readonly sort?: Sort<PartnerDocument<C>>;
  readonly skip?: number;
  readonly limit?: number;
  readonly select?: PathList<PartnerDocument<C>> | SelectObject<PartnerDocument<C>>;
  readonly archived?: boolean | 'only';
  readonly include?: IncludeOver<PartnerRelations<C>>;
}

type IncludeOver<R> = [R] extends [never]
  ? undefined
  : { readonly [K in keyof R]?: boolean | IncludeOptions<PartnerIn<R[K]>> };

/** What to include. */
export type IncludeOption<S> = IncludeOver<RelationsOf<S>> | undefined;

type IncludedDocument<C, O> = (O extends { readonly select: infer L }
  ? L extends readonly string[]
    ? Selected<PartnerDocument<C>, L>
    : Projected<PartnerDocument<C>, L>
  : PartnerDocument<C>) &
  (O extends { readonly include: infer N } ? IncludedOver<PartnerRelations<C>, N> : unknown);

type IncludedValue<V, O> = unknown extends V
  ? unknown
  : V extends readonly (infer C)[]
    ? IncludedDocument<C, O>[]
    : IncludedDocument<V, O> | null;

type IncludedOver<R, N> = {
  -readonly [K in keyof N & keyof R as N[K] extends false | undefined ? never : K]: IncludedValue<
    R[K],
    N[K]
  >;
};

/** What an include adds to a document. */
export type Included<S, N> = N extends object ? IncludedOver<RelationsOf<S>, N> : unknown;
