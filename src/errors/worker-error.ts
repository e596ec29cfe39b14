import { CairnError } from './cairn-error.ts';

/** Codes of {@link WorkerError}. */
export type WorkerErrorCode = 'worker_start_failed' | 'worker_lost' | 'worker_unresponsive';

/** The worker that hosts the engine did not start, died, or stopped answering. */
export class WorkerError extends CairnError<WorkerErrorCode> {
  static {
    this.prototype.name = 'WorkerError';
  }
}
