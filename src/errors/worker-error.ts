import { CairnError } from './cairn-error.ts';

/** Codes of {@link WorkerError}. */
export type WorkerErrorCode =
  | 'query_hung'
  | 'scan_lost'
  | 'worker_start_failed'
  | 'worker_lost'
  | 'worker_unresponsive';

/** The engine's worker did not start, died, stopped answering, or was restarted. */
export class WorkerError extends CairnError<WorkerErrorCode> {
  static {
    this.prototype.name = 'WorkerError';
  }
}
