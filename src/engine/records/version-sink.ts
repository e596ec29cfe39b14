import type { KeyColumns } from '../../query/index/index-key.ts';
import type { RecordPart } from '../../storage/segments/parts/record-part.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { NewRows } from '../documents/new-rows.ts';
import type { Change } from '../protocol/event-protocol.ts';

/** A new version of a record, with its body, and the version that it replaces. */
export interface NewVersion {
  readonly record: StoredRecord;
  readonly before: StoredRecord | undefined;
  readonly kind: Change['kind'];
}

/** Takes the changes of an operation: into the collection, or aside, into a transaction. */
export interface VersionSink {
  /**
   * Prepares a record that {@link add}, {@link put} or {@link putAll} takes later.
   *
   * @param before The version that it replaces.
   * @param fields Its decoded fields, where they are known.
   */
  prepare(record: StoredRecord, before?: StoredRecord, fields?: object): void;
  /** The same for new documents without ranks, from a row on, with the index keys that the client has read. */
  prepareRows(rows: NewRows, from: number, given?: KeyColumns): void;
  /** Adds prepared records with new keys, all or none; their ranks ascend by one. @throws {ValueError} `unique_violation` */
  add(part: RecordPart): void;
  /** @throws {ValueError} `unique_violation`; nothing has changed then. */
  put(version: NewVersion): void;
  /** Puts versions of different records, all or none. They may exchange keys of unique indexes. @throws {ValueError} `unique_violation` */
  putAll(versions: readonly NewVersion[]): void;
  delete(record: StoredRecord): void;
}
