import type { KeyRange } from '../index/key-range.ts';

/** What every plan says about its candidates. */
interface Candidates {
  /** Whether they are precisely the matches, so that no document has to be looked at. */
  readonly exact: boolean;
  /** Whether they come in the order asked for, which is the order of insertion when none was. */
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

/** What an index has in some ranges, which ascend and do not overlap. */
export interface IndexPlan extends Candidates {
  readonly kind: 'index';
  /** The name of the index. */
  readonly index: string;
  readonly ranges: readonly KeyRange[];
  /** Whether keys come descending. */
  readonly reverse: boolean;
}

/** What any of these finds, each document once. */
interface UnionPlan extends Candidates {
  readonly kind: 'union';
  readonly branches: readonly PlanByKeys[];
}

export type PlanByKeys = IdsPlan | IndexPlan | UnionPlan;

/** How candidates are found; plain data that survives a structured clone. */
export type Plan = ScanPlan | PlanByKeys;
