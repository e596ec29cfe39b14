import type { CollectionVersions } from '../documents/collection-versions.ts';
import type { DocumentIndexes } from '../documents/document-indexes.ts';
import type { IndexDeclarations } from '../documents/index-declarations.ts';
import type { CollectionEvents } from '../events/collection-events.ts';
import type { ExpiryRules } from '../expiry/expiry-rules.ts';
import type { RecentReads } from '../first-reads/recent-reads.ts';
import type { CollectionSettings } from '../protocol/settings.ts';
import type { RecordStore } from '../records/record-store.ts';
import type { VersionSink } from '../records/version-sink.ts';
import type { ReplicaTracker } from '../replication/replica-tracker.ts';
import type { SaveSchedule } from '../saving/save-schedule.ts';
import type { Aborts } from '../scheduling/pace.ts';
import type { ReadSet } from '../snapshots/read-set.ts';
import type { Records } from '../snapshots/records.ts';
import type { Availability } from './availability.ts';
import type { EngineEnvironment } from './environment.ts';

/** What operations on documents and values work with: a collection, or a transaction's view of it. */
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
      | 'leases'
      | 'terminable'
      | 'snapshots'
      | 'links'
      | 'checkpointAfter'
      | 'isRecovered'
    > {
  readonly availability: Availability;
  readonly records: RecordStore;
  readonly versions: CollectionVersions;
  readonly saves: SaveSchedule;
  readonly events: CollectionEvents;
  readonly recent: RecentReads;
  /** Of a document collection. A restored backup brings new ones. */
  indexes: DocumentIndexes;
  /** With `expire_after`. */
  expiry: ExpiryRules | undefined;
  /** While the collection is replicated. */
  replica: ReplicaTracker | undefined;
  /** The indexes that open handles declare. */
  readonly declared: IndexDeclarations;
}
