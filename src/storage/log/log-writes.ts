import type { StorageOperation, StoragePut } from '../drivers/driver.ts';
import type { SegmentState } from '../segments/compaction.ts';
import type { StoredRecord } from '../segments/stored-record.ts';
import type { Watermark } from '../segments/watermarks.ts';

/** Changes to be written: the newest versions of changed records, and keys that are gone. */
export interface Changes {
  readonly records: Iterable<StoredRecord>;
  readonly deletes: Iterable<string>;
  /** How far the changes of clients are among these. */
  readonly watermarks?: readonly Watermark[] | undefined;
}

/** The live segments at a moment. */
export interface LiveList {
  readonly segments: readonly Pick<SegmentState, 'number' | 'size'>[];
  /** Number of the last change in them: compaction changes segments, and nothing that they say. */
  readonly changed: number;
}

/** A value that goes with a save, made once it is known what is live after it. */
export type Along = (live: LiveList) => StoragePut | undefined;

/** A write that makes other segments the live ones. Nothing else may be written before it is known what became of it. */
export interface ManifestSwap {
  readonly operations: readonly StorageOperation[];
  readonly stored: () => void;
  /** It may have been stored all the same: the next write takes it back. */
  readonly failed: () => void;
}
