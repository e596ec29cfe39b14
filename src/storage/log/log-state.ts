import type { LogBodies } from '../segments/log-bodies.ts';
import type { LiveSegments } from './live-segments.ts';
import type { Orphans } from './orphans.ts';
import type { UndoLog } from './undo-log.ts';

/** The state that the writes of a log change. */
export interface LogState {
  readonly live: LiveSegments;
  readonly undo: UndoLog;
  readonly bodies: LogBodies;
  readonly orphans: Orphans;
}
