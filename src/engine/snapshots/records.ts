import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { Hides } from '../expiry/expiry-rules.ts';
import type { RecordStore } from '../records/record-store.ts';

/** Versions that count in the place of the newest ones, by key; `undefined` where the record does not exist. */
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
  /** Where the versions differ from the newest, which indexes know; `undefined` where they do not. */
  readonly overlay: Overlay | undefined;
  /** Tells which records of lists and indexes do not count: they have expired. `undefined` where all do. */
  readonly hides: Hides | undefined;
}
