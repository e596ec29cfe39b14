import type { DocumentIndexes } from '../documents/document-indexes.ts';
import type { IdGenerator } from '../documents/ids.ts';
import type { IndexDeclarations } from '../documents/index-declarations.ts';
import type { Change } from '../protocol/requests.ts';
import type { CollectionSettings } from '../protocol/settings.ts';
import type { RecordStore } from '../records/record-store.ts';
import type { Clock } from '../scheduling/clock.ts';
import type { Aborts } from '../scheduling/pace.ts';

/** What the store of a collection works with. */
export interface CollectionContext {
  readonly settings: CollectionSettings;
  readonly records: RecordStore;
  /** Of a document collection. Others take their place when a backup is restored. */
  indexes: DocumentIndexes;
  /** The indexes that open handles declare. */
  readonly declared: IndexDeclarations;
  readonly aborts: Aborts;
  readonly clock: Clock;
  readonly newId: IdGenerator;
  /** Whether anybody is told of changes. */
  readonly isWatched: () => boolean;
  /** Tells of a change, once it is made. */
  readonly changed: (id: string, kind: Change['kind']) => void;
}
