import type { StorageOperation } from '../drivers/driver.ts';
import type { Watermark } from '../segments/watermarks.ts';

/** Format of manifests, segments and snapshots. A higher one in storage is refused with `format_newer`. */
export const FORMAT = 1;

/**
 * So many numbers each leader has for its segments. A number says by its size who gave it: an epoch of a leader, then
 * a count. 2^53 holds 33 million epochs of them.
 */
export const EPOCH_SPAN = 2 ** 28;

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
  /** Number of the last change below `next`; compaction changes nothing. */
  readonly changed: number;
  /** How far the changes of clients were saved below `next`. */
  readonly watermarks?: readonly Watermark[];
  /** The collection was dropped: what is left is kept for its backups, and the marks for pages that rest. */
  readonly dropped?: true;
  /** Nothing but marks is left, and they are of use until then, in Unix milliseconds. */
  readonly kept_until?: number;
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
