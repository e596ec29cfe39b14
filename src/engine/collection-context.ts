import type { Clock } from '../async/clock.ts';
import type { Aborts } from '../async/pace.ts';
import { CollectionError, StorageError } from '../errors/errors.ts';
import type { CollectionSettings } from '../protocol/settings.ts';
import type { Durability } from '../storage/drivers/driver.ts';
import type { FencedStorage } from '../storage/fenced-storage.ts';
import type { SegmentPool } from '../storage/segments/log-bodies.ts';
import type { CollectionEvents } from './collection-events.ts';
import type { CollectionVersions } from './documents/collection-versions.ts';
import type { DocumentIndexes } from './documents/document-indexes.ts';
import type { IdGenerator } from './documents/ids.ts';
import type { IndexKeeper } from './documents/index-keeper.ts';
import type { VersionSink } from './documents/new-rows.ts';
import type { EngineEventHub } from './engine-events.ts';
import type { RecentReads } from './first-reads/recent-reads.ts';
import type { SnapshotHolder } from './records/open-snapshots.ts';
import type { ReadSet } from './records/read-set.ts';
import type { RecordStore, Records } from './records/record-store.ts';
import type { ReplicaTracker } from './replication/replica-tracker.ts';
import type { SaveLinks, SaveSchedule, Tidy } from './save-schedule.ts';

/**
 * What operations on documents and values work with: a collection, or a transaction's view of it.
 */
export interface OperationContext extends Pick<EngineEnvironment, 'clock' | 'newId'> {
  readonly settings: CollectionSettings;
  readonly records: Records;
  readonly versions: VersionSink;
  readonly indexes: Pick<DocumentIndexes, 'byName' | 'width'>;
  readonly aborts: Aborts;
  /** In a transaction: what it reads. */
  readonly reads?: ReadSet | undefined;
  /** Outside of one: what the first reads of this visit find. */
  readonly recent?: RecentReads | undefined;
}

/** The parts of a collection, as they know each other. */
export interface CollectionContext
  extends OperationContext,
    Pick<
      EngineEnvironment,
      | 'storage'
      | 'pool'
      | 'durability'
      | 'terminable'
      | 'snapshots'
      | 'links'
      | 'tidy'
      | 'checkpointAfter'
      | 'isRecovered'
    > {
  readonly availability: Availability;
  readonly records: RecordStore;
  readonly versions: CollectionVersions;
  readonly saves: SaveSchedule;
  readonly events: CollectionEvents;
  readonly recent: RecentReads;
  /** Its live queries. */
  readonly lives: () => object;
  /** Of a document collection. A restored backup brings new ones. */
  indexes: DocumentIndexes;
  /** While the collection is replicated. */
  replica: ReplicaTracker | undefined;
  readonly keeper: IndexKeeper;
}

/** Whether a collection can be used, and if not, why. */
export class Availability {
  /** `undefined` while the collection can be used, and while it opens. */
  error: Error | undefined;

  /** Whether a restored backup makes it usable again. */
  get isDamaged(): boolean {
    return this.error instanceof StorageError && this.error.code === 'data_damaged';
  }

  /**
   * Whether it could not be opened, so that opening it again makes sense. A damaged collection
   * stays open: two of one name that are both restored would overwrite each other's segments.
   */
  get failed(): boolean {
    return this.error !== undefined && !this.isDamaged;
  }

  /** Whether it was dropped, or is of another type. */
  get isGone(): boolean {
    return this.error instanceof CollectionError;
  }

  check(): void {
    if (this.error) throw this.error;
  }
}

/** What all collections of an engine share. */
export interface EngineEnvironment {
  readonly storage: FencedStorage;
  /** The last leader may still write: a takeover is recorded before anything is answered. */
  readonly stolen: boolean;
  readonly pool: SegmentPool;
  readonly durability: Durability;
  readonly snapshots: SnapshotHolder;
  readonly clock: Clock;
  readonly newId: IdGenerator;
  /** Whether the thread is terminated when a request hangs. */
  readonly terminable: boolean;
  /** Whether the changes that earlier engines have acknowledged are replayed. */
  readonly isRecovered: () => boolean;
  readonly events: EngineEventHub;
  /** As `CheckpointWriter` has it, unless it is given. */
  readonly checkpointAfter?: number | undefined;
  readonly links: SaveLinks<SaveSchedule>;
  readonly tidy: Tidy;
}
