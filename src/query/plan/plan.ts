import type { KeyRange } from '../index/key-range.ts';

/** Properties of the candidates of a plan. */
interface Candidates {
  /** Whether every candidate matches, so that no document needs testing. */
  readonly exact: boolean;
  /** Whether candidates come in the requested order: without a sort, the insertion order. */
  readonly ordered: boolean;
}

/** Every document is a candidate. */
interface ScanPlan extends Candidates {
  readonly kind: 'scan';
}

/** The documents with these `_id`s. */
interface IdsPlan extends Candidates {
  readonly kind: 'ids';
  readonly ids: readonly string[];
}

/** The entries of an index in some ranges, which ascend and do not overlap. */
export interface IndexPlan extends Candidates {
  readonly kind: 'index';
  /** The name of the index. */
  readonly index: string;
  readonly ranges: readonly KeyRange[];
  /** Whether keys descend. */
  readonly reverse: boolean;
}

/** The candidates of all branches, each document once. */
interface UnionPlan extends Candidates {
  readonly kind: 'union';
  readonly branches: readonly PlanByKeys[];
}

export type PlanByKeys = IdsPlan | IndexPlan | UnionPlan;

/** How a query finds its candidates; plain data that survives a structured clone. */
export type Plan = ScanPlan | PlanByKeys;

/** An index that cannot serve a query: its collation is another, or `where` is not implied. */
export interface UnfitIndex {
  readonly index: string;
  readonly why: 'collation' | 'where';
}
