import type { StorageOperation } from './driver.ts';

/**
 * Number of the format of manifests, segments and snapshots. Code refuses a number higher than its own.
 *
 * 1: segments and manifests. 2: snapshots name segments, and segments may be staged.
 */
export const FORMAT = 2;

/** What is stored about a collection, beside its segments. */
export interface Manifest {
  readonly format: number;
  readonly name: string;
  readonly type: string;
  /**
   * The live segments below `next`. The live list is these and every later number that is not staged, so that
   * a save touches nothing but its own segment; only compaction and restoring rewrite the manifest.
   */
  readonly segments: readonly number[];
  readonly next: number;
  /** Number of the last change below `next`; what compaction writes is none. Since format 2. */
  readonly changed?: number;
  /** The collection was dropped, and what is left is kept for its backups. */
  readonly dropped?: true;
}

export function putManifest(manifest: Manifest): StorageOperation {
  return { type: 'put', store: 'collections', key: [manifest.name], value: manifest };
}

export function isSameList(stored: Manifest | undefined, { next, segments }: Manifest): boolean {
  return stored?.next === next && stored.segments.join() === segments.join();
}

export function noManifest(name: string): StorageOperation {
  return { type: 'delete', store: 'collections', key: [name] };
}
