import type { StorageOperation } from '../drivers/driver.ts';
import { seal } from '../integrity/seal.ts';
import type { Watermark } from '../segments/watermarks.ts';

/**
 * Format of manifests, segments and snapshots. A higher one in storage is refused with
 * `format_newer`.
 */
export const FORMAT = 1;

/**
 * Segment numbers per epoch: a number is the leader's epoch times this, plus a count. 2^53 has room
 * for 33 million epochs.
 */
export const EPOCH_SPAN = 2 ** 28;

/** The stored head of a collection: its format, type and live segments. */
export interface Manifest {
  readonly format: number;
  readonly name: string;
  readonly type: string;
  /**
   * The live segments below `next`. Later segments that are not staged are live, too: a save writes
   * only its own segments; compaction and restore rewrite the manifest.
   */
  readonly segments: readonly number[];
  readonly next: number;
  /** Number of the last change below `next`; compaction changes nothing. */
  readonly changed: number;
  /** The version of the documents, as the option `version`; left out where it is 1. */
  readonly version?: number;
  /** Watermarks of the changes saved below `next`. */
  readonly watermarks?: readonly Watermark[];
  /**
   * Set where the collection is replicated: a log of its own has what it knows of the server.
   * Another number after each replacement of all records, which that log has to enter.
   */
  readonly replicated?: number;
  /** Whether a note of the newest segment was stored with it; a save never removes that. */
  readonly noted?: true;
  /**
   * A tombstone: the collection was dropped. Its backups stay, and its watermarks, for frozen
   * pages.
   */
  readonly dropped?: true;
  /** When a tombstone of watermarks alone expires, in Unix milliseconds. */
  readonly kept_until?: number;
}

export function putManifest(manifest: Manifest): StorageOperation {
  const key = [manifest.name];
  return { type: 'put', store: 'collections', key, value: seal(key, manifest) };
}

export function noManifest(name: string): StorageOperation {
  return { type: 'delete', store: 'collections', key: [name] };
}

/** Removes all of a log but its manifest. */
export function removalOf(name: string): StorageOperation[] {
  return (['segments', 'bodies', 'snapshots'] as const).map((store) => deleteAll(store, name));
}

export function deleteAll(
  store: 'snapshots' | 'segments' | 'bodies',
  name: string,
): StorageOperation {
  return { type: 'deletePrefix', store, prefix: [name] };
}
