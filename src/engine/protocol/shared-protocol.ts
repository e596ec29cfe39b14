import type { Body } from '../../codec/body.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { ManagedColumns } from './managed-columns.ts';

/** Asks for documents that the client shares: those that it keeps are not sent again. */
export interface SharedAsk {
  /** The number of the client's cache. A new cache has a higher number, and is empty. */
  readonly cache: number;
  /** Numbers of the replies that the cache has taken in since the last request. */
  readonly received: readonly number[];
}

/** The versions that a request found, for a client in this thread; `undefined` where there is no document. */
export interface FoundVersions {
  readonly records: readonly (StoredRecord | undefined)[];
  readonly bodies: readonly (Body | undefined)[];
}

/** The same for a client elsewhere: documents that its cache lacks, and the numbers of all versions. */
export interface SentVersions {
  /** The number of each version, 0 where there is no document. */
  readonly versions: Float64Array;
  /** Which of them come along; their columns are parallel to it. */
  readonly places: readonly number[];
  readonly columns: ManagedColumns;
  readonly bodies: readonly Body[];
  /** The number of the reply. */
  readonly reply: number;
}

export interface SharedOperations {
  /** Documents by id, archived or not, as of one instant. */
  getShared: {
    ask: { readonly ids: readonly string[]; readonly shared: SharedAsk };
    reply: FoundVersions | SentVersions;
  };
}
