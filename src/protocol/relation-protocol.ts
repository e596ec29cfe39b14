import type { Body, DecodedBody } from '../codec/body.ts';
import type { Plan } from '../query/plan/plan.ts';
import type { ManagedColumns } from './managed.ts';

/** How documents belong to those of another collection. */
export interface Link {
  /** Number of the partner's handle. */
  readonly partner: number;
  /** The relation, for messages and plans. */
  readonly name: string;
  /** Dotted path in the documents themselves. */
  readonly from: string;
  /** Dotted path in the partners. */
  readonly to: string;
}

/** What partners of each document to send along. */
export interface IncludeAsk extends Link {
  readonly isOne: boolean;
  readonly criteria?: object | undefined;
  readonly archived: boolean | 'only';
  readonly sort?: object | undefined;
  readonly skip?: number | undefined;
  readonly limit?: number | undefined;
  readonly select?: object | undefined;
  readonly include: readonly IncludeAsk[];
}

/** A condition on partners: the value of `$related` in criteria. */
export interface RelatedCondition extends Link {
  /** Whether no partner may match, in place of at least one. */
  readonly isNone: boolean;
  readonly criteria: object;
}

/** What a read asks of other collections. */
export interface RelatedAsk {
  readonly include: readonly IncludeAsk[];
  /** The handles of all partners, or their names, where a pipeline has these. */
  readonly partners: readonly (number | string)[];
  /** In the engine: what a read looks into of each partner. */
  readonly contexts?: ReadonlyMap<number | string, object>;
  /** In the engine: settles when all partners can be read, where they cannot at once. */
  readonly ahead?: Promise<unknown> | undefined;
  /** In the engine: an import that may hold a partner, and wait for the collection; cleared. */
  importing?: Promise<unknown> | undefined;
}

/** The partners of a chunk of documents. */
export interface IncludedReply {
  /** How many partners each document of the chunk has. */
  readonly counts: Uint32Array;
  /** The partners of all, in order: rows of the columns, which have each partner once. */
  readonly rows: Uint32Array;
  readonly columns: ManagedColumns & {
    readonly bodies: readonly (Body | DecodedBody)[];
    readonly whole: boolean;
  };
  /** The partners of these. */
  readonly included: readonly IncludedReply[];
}

/**
 * The partners of documents of a live query. The page keeps each by a number, so that a partner
 * comes again only if it, or one of its own partners, has changed.
 */
export interface LiveIncluded extends Pick<IncludedReply, 'counts' | 'columns'> {
  /** The partners of all documents, in order, by their numbers. */
  readonly rows: Float64Array;
  /** The numbers of those that the columns have: they are new, or have changed. */
  readonly fresh: Float64Array;
  /** The numbers of those that no document has any more. */
  readonly gone: Float64Array;
  /** The partners of the fresh ones. */
  readonly included: readonly LiveIncluded[];
}

/** How partners were found. */
export interface RelationPlan {
  /**
   * The relation; a nested one by its path, such as `visits.technician`; a stage by its place, such
   * as `pipeline[1].$lookup`.
   */
  readonly relation: string;
  readonly collection: string;
  readonly use: 'include' | '$some' | '$none' | '$lookup' | '$unionWith';
  /** Of a condition: the side whose documents were found first. */
  readonly first?: 'documents' | 'partners' | undefined;
  readonly plan: Plan;
  readonly keys_examined: number;
  readonly documents_examined: number;
  readonly returned: number;
  /** The path of the partners that has no index, so that all of them were looked at. */
  readonly missing_index?: string | undefined;
}
