import type { StoragePut } from '../drivers/driver.ts';
import type { StoredRecord } from '../segments/stored-record.ts';
import type { Watermark } from '../segments/watermarks.ts';
import type { LiveSegmentList } from './live-segments.ts';

/** A save: the newest versions of changed records, and deleted keys. */
export interface Changes {
  readonly records: Iterable<StoredRecord>;
  readonly deletes: Iterable<string>;
  /** How far the changes of clients are among these. */
  readonly watermarks?: readonly Watermark[] | undefined;
}

/** Makes a value that is put in the transaction of a save, of the segments that are live after it. */
export type Attachment = (live: LiveSegmentList) => StoragePut | undefined;
