import type { Body } from '../../codec/body.ts';
import { sameBody } from '../../codec/same-value.ts';
import type { KeyColumns } from '../../query/index/index-key.ts';
import type { RecordPart } from '../../storage/segments/record-part.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { CollectionEvents } from '../collection-events.ts';
import type { RecordStore } from '../records/record-store.ts';
import type { ReplicaTracker } from '../replication/replica-tracker.ts';
import type { DocumentIndexes } from './document-indexes.ts';
import type { NewRows, NewVersion, VersionSink } from './new-rows.ts';

/** Changes of a transaction in one collection. */
export interface StagedChanges {
  readonly deleted: readonly StoredRecord[];
  readonly versions: readonly NewVersion[];
}

/** What versions are put into. */
interface VersionTargets {
  readonly records: RecordStore;
  readonly indexes: DocumentIndexes;
  readonly events: CollectionEvents;
  readonly replica: ReplicaTracker | undefined;
}

/** Puts new versions into a collection: its records, its indexes, its events. */
export class CollectionVersions implements VersionSink {
  readonly #parts: () => VersionTargets;

  constructor(parts: () => VersionTargets) {
    this.#parts = parts;
  }

  prepare(record: StoredRecord, before?: StoredRecord, fields?: object): void {
    this.#parts().indexes.extract(record, record.body as Body, before, fields);
  }

  prepareRows(rows: NewRows, from: number, given?: KeyColumns): void {
    this.#parts().indexes.extractRows(rows, from, given);
  }

  add(added: RecordPart): void {
    const { records, indexes, events, replica } = this.#parts();
    indexes.addAll(added);
    records.addAll(added);
    if (replica) for (const key of added.keys) replica.note(key, undefined);
    if (events.isWatched) for (const key of added.keys) events.changed(key, 'insert');
  }

  put(version: NewVersion): void {
    const { record, before } = version;
    const { indexes } = this.#parts();
    extractMissing(indexes, version);
    indexes.put(record, before);
    this.#enter(version);
  }

  putAll(versions: readonly NewVersion[], deleted: readonly StoredRecord[] = []): void {
    const changes = { deleted, versions };
    this.index(changes);
    this.enter(changes);
  }

  delete(record: StoredRecord): void {
    this.#parts().indexes.delete(record);
    this.#remove(record);
  }

  /**
   * Enters changes into the indexes alone, all or none; {@link enter} must follow, or the returned
   * function takes them back.
   *
   * @throws {ValueError} `unique_violation`; nothing has changed then.
   */
  index({ deleted, versions }: StagedChanges): () => void {
    const { indexes } = this.#parts();
    for (const version of versions) extractMissing(indexes, version);
    return indexes.change(deleted, versions, this.#areMost({ deleted, versions }));
  }

  /** Enters changes whose index keys are there. */
  enter(changes: StagedChanges): void {
    const areMost = this.#areMost(changes);
    for (const record of changes.deleted) this.#remove(record);
    for (const version of changes.versions) this.#enter(version);
    const { records, indexes } = this.#parts();
    if (areMost) indexes.reload(records.list());
  }

  /** Whether an index is loaded anew sooner than changed. */
  #areMost({ deleted, versions }: StagedChanges): boolean {
    return 2 * (deleted.length + versions.length) > this.#parts().records.table.size;
  }

  #enter({ record, before, kind, patches }: NewVersion): void {
    const { records, replica, events } = this.#parts();
    // A change that changes nothing: readers keep their object.
    if (before?.shared && sameVersion(before, record)) record.shared = before.shared;
    records.put(record);
    replica?.note(record.key, before, patches);
    events.changed(record.key, kind);
  }

  #remove(record: StoredRecord): void {
    const { records, replica, events } = this.#parts();
    records.delete(record);
    replica?.note(record.key, record);
    events.changed(record.key, 'delete');
  }
}

/** Extracts the keys of a version that is not prepared. */
function extractMissing(indexes: DocumentIndexes, { record, before }: NewVersion): void {
  if (record.indexKeys?.length !== indexes.width)
    indexes.extract(record, record.body as Body, before);
}

/** The managed values of a version as a text, for comparison. */
export function managedOf({ rank, flags, stamps }: StoredRecord): string {
  return `${rank} ${flags} ${stamps}`;
}

/** Whether two versions are equal documents, as far as both are in memory. */
export function sameVersion(a: StoredRecord, b: StoredRecord): boolean {
  return sameBody(a.body, b.body) && managedOf(a) === managedOf(b);
}
