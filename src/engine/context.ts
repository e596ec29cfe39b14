import type { Clock } from './clock.ts';
import type { DocumentIndexes } from './documents/document-indexes.ts';
import type { IdGenerator } from './documents/ids.ts';
import type { Aborts } from './pace.ts';
import type { Change } from './protocol.ts';
import type { RecordStore } from './records/record-store.ts';
import type { CollectionSettings } from './settings.ts';

/** What the store of a collection works with. */
export interface StoreContext {
  readonly settings: CollectionSettings;
  readonly records: RecordStore;
  /** Of a document collection. Others take their place when a backup is restored. */
  indexes: DocumentIndexes;
  readonly aborts: Aborts;
  readonly clock: Clock;
  readonly newId: IdGenerator;
  /** Whether anybody is told of changes. */
  readonly isWatched: () => boolean;
  /** Tells of a change, once it is made. */
  readonly changed: (id: string, kind: Change['kind']) => void;
}
