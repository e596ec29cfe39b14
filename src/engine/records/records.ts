import type { IndexDefinition } from '../../query/index/index-definition.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { RecordStore } from './record-store.ts';

/**
 * Versions that count in the place of the newest ones, by key; `undefined` where the record does
 * not exist.
 */
export type Overlay = ReadonlyMap<string, StoredRecord | undefined>;

/** The version of each record that an operation sees: the newest, or that of a transaction. */
export interface Records
  extends Pick<
    RecordStore,
    | 'bodies'
    | 'decoded'
    | 'decodedSize'
    | 'flags'
    | 'get'
    | 'keys'
    | 'list'
    | 'log'
    | 'pin'
    | 'size'
    | 'takeRank'
    | 'vacate'
  > {
  /**
   * Where the versions differ from the newest, which indexes know; `undefined` where they do not.
   */
  readonly overlay: Overlay | undefined;
  /**
   * Tells which records of lists and indexes do not count: they have expired. `undefined` where all
   * do.
   */
  readonly hides: Hides | undefined;
}

/** Tells of a record whether it is hidden: it has expired, and is not removed yet. */
export type Hides = (record: StoredRecord) => boolean;

/** When the records of a collection expire, as its other parts know it. */
export interface ExpiryRules {
  /** The index whose keys say when. */
  readonly definition: IndexDefinition;
  /**
   * Must be called with the version of each handle that has these rules: they are for documents of
   * such versions.
   */
  countFor(version: number): void;
  /** The time that counts, in Unix milliseconds. */
  now(): number;
  /** What has expired by a time. */
  hidingAt(time: number): Hides;
  /** Removes a record if it has expired. @returns whether it has. */
  evict(record: StoredRecord): boolean;
}

const numbers = new WeakMap<StoredRecord, number>();

/** Begins anywhere: a number of an earlier engine must not stand for a version. */
let last = Math.random();

/**
 * The number of a version of a record, to notice a change in between. One table for all
 * collections: each transaction would need its own, and weak maps are dear.
 *
 * @returns 0 where there is no record.
 */
export function versionNumber(record: StoredRecord | undefined): number {
  if (!record) return 0;
  let number = numbers.get(record);
  if (number === undefined) {
    number = ++last;
    numbers.set(record, number);
  }
  return number;
}
