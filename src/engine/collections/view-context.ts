import type { VersionSink } from '../records/version-sink.ts';
import type { ReadSet } from '../snapshots/read-set.ts';
import type { Records } from '../snapshots/records.ts';
import type { CollectionContext, OperationContext } from './collection-context.ts';

/** What operations work with that see other records than the newest of a collection. */
export class ViewContext implements OperationContext {
  readonly settings: OperationContext['settings'];
  readonly clock: OperationContext['clock'];
  readonly newId: OperationContext['newId'];
  readonly aborts: OperationContext['aborts'];
  readonly records: Records;
  readonly versions: VersionSink;
  readonly reads: ReadSet | undefined;
  readonly #collection: CollectionContext;

  constructor(
    collection: CollectionContext,
    records: Records,
    versions: VersionSink,
    reads?: ReadSet,
  ) {
    this.settings = collection.settings;
    this.clock = collection.clock;
    this.newId = collection.newId;
    this.aborts = collection.aborts;
    this.records = records;
    this.versions = versions;
    this.reads = reads;
    this.#collection = collection;
  }

  /** A restored backup brings new ones. */
  get indexes(): OperationContext['indexes'] {
    return this.#collection.indexes;
  }
}
