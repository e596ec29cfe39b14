/** Number of the format of manifests and segments. Code refuses a number higher than its own. */
export const FORMAT = 1;

/** What is stored about a collection, beside its segments. */
export interface Manifest {
  readonly format: number;
  readonly name: string;
  readonly type: string;
  /**
   * The live segments below `next`. The live list is these and every later number, so that a save
   * touches nothing but its own segment; only compaction rewrites the manifest.
   */
  readonly segments: readonly number[];
  readonly next: number;
}
