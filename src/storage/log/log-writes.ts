import type { LogBodies } from '../segments/log-bodies.ts';
import type { RecordPart } from '../segments/parts/record-part.ts';
import type { StoredRecord } from '../segments/stored-record.ts';
import type { Watermark } from '../segments/watermarks.ts';
import type { LiveSegmentList, LiveSegments } from './live-segments.ts';
import type { Orphans } from './orphans.ts';
import type { UndoablePut, UndoLog } from './undo-log.ts';

/** A save: the newest versions of changed records, and deleted keys. */
export interface Changes {
  readonly records: Iterable<StoredRecord>;
  /** More new records; each part has segments of its own. */
  readonly parts: readonly RecordPart[];
  readonly deletes: Iterable<string>;
  /** The watermarks of the clients that made these changes. */
  readonly watermarks?: readonly Watermark[] | undefined;
}

/** Makes values to put in the transaction of a save, from the segments that are live after it. */
export type Attachment = (live: LiveSegmentList) => readonly UndoablePut[];

/** The state that the writes of a log change. */
export interface LogState {
  readonly live: LiveSegments;
  readonly undo: UndoLog;
  readonly bodies: LogBodies;
  readonly orphans: Orphans;
}
