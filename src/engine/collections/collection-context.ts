import type { DocumentIndexes } from '../documents/document-indexes.ts';
import type { IndexDeclarations } from '../documents/index-declarations.ts';
import type { CollectionEvents } from '../events/collection-events.ts';
import type { CollectionSettings } from '../protocol/settings.ts';
import type { RecordStore } from '../records/record-store.ts';
import type { SaveSchedule } from '../records/save-schedule.ts';
import type { Aborts } from '../scheduling/pace.ts';
import type { Availability } from './availability.ts';
import type { EngineEnvironment } from './environment.ts';

/** The parts of a collection, as they know each other. */
export interface CollectionContext
  extends Pick<EngineEnvironment, 'storage' | 'leases' | 'clock' | 'newId' | 'terminable'> {
  readonly settings: CollectionSettings;
  readonly availability: Availability;
  readonly records: RecordStore;
  readonly saves: SaveSchedule;
  readonly events: CollectionEvents;
  /** Of a document collection. A restored backup brings new ones. */
  indexes: DocumentIndexes;
  /** The indexes that open handles declare. */
  readonly declared: IndexDeclarations;
  readonly aborts: Aborts;
}
