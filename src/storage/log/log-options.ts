import type { Durability, Storage } from '../drivers/driver.ts';
import type { IndexColumns } from '../segments/segment.ts';
import type { SegmentPool } from '../segments/segment-pool.ts';

export interface SegmentLogOptions {
  readonly name: string;
  readonly type: string;
  readonly storage: Storage;
  readonly pool: SegmentPool;
  readonly durability: Durability;
  /** Whether the collection caches its encoded documents, so that the pool need not. */
  readonly caching: boolean;
  /** The columns of the current indexes. */
  readonly columns: () => IndexColumns;
  /** The epoch of this leader. Segments that an older leader appends after this one has opened do not count. */
  readonly epoch: () => Promise<number>;
  /** Segments that backups reference: they stay, live or not. */
  readonly referenced: () => Promise<ReadonlySet<number>>;
}
