import type { IndexDefinition } from '../../query/index/index-definition.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';

/** Tells of a record whether it is hidden: it has expired, and is not removed yet. */
export type Hides = (record: StoredRecord) => boolean;

/** When the records of a collection expire, as its other parts know it. */
export interface ExpiryRules {
  /** The index whose keys say when. */
  readonly definition: IndexDefinition;
  /** Must be called with the version of each handle that has these rules: they are for documents of such versions. */
  countFor(version: number): void;
  /** The time that counts, in Unix milliseconds. */
  now(): number;
  /** What has expired by a time. */
  hidingAt(time: number): Hides;
  /** Removes a record if it has expired. @returns whether it has. */
  evict(record: StoredRecord): boolean;
}
