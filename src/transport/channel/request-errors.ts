import type { BatchReply, Request } from '../../engine/protocol/requests.ts';
import { BackupError } from '../../errors/backup-error.ts';
import type { CairnError } from '../../errors/cairn-error.ts';
import { CollectionError } from '../../errors/collection-error.ts';
import { WorkerError } from '../../errors/worker-error.ts';

/** The error of a request that may not run twice, when its engine is lost. */
export function outcomeUnknown({ op }: Request, place: string): CairnError {
  const method = op === 'drop' ? 'Drop' : op;
  const lost = `The engine was replaced before it answered ${method}() of "${place}".`;
  if (op.startsWith('import')) {
    const message = `${lost} The file was imported as a whole or not at all: import it again.`;
    return new BackupError('import_lost', message, { place });
  }
  const message = `${lost} It may have been executed: check, and call it again if not.`;
  return new CollectionError('answer_lost', message, { place });
}

/** The error of a request that several engines have not survived. */
export function tooManyAttempts(attempts: number): WorkerError {
  return new WorkerError(
    'worker_lost',
    `${attempts} engines ended while they executed this request, so it is not retried. It may have been executed.`,
  );
}

/** The error of the request that made the worker hang. */
export function hungError(place: string | undefined, cause: CairnError): WorkerError {
  return new WorkerError(
    'query_hung',
    'A pattern of this call or live query did not end, so the worker was restarted. Only this call failed. ' +
      'Use a pattern that cannot backtrack without end: no repetition of a repetition, as in (a+)+.',
    { place, cause },
  );
}

/** Whether the engine that replied was superseded by another leader, or has lost its database. */
export function isSuperseded({ failures }: BatchReply): boolean {
  if (!failures) return false;
  for (const error of failures.values()) if (isTaken(error)) return true;
  return false;
}

/** Whether the engine is lost. The leadership reports that too, and the request is retried. */
export function isEngineLost(error: unknown): boolean {
  const code = codeOf(error);
  return isTaken(error) || code === 'worker_lost' || code === 'worker_unresponsive';
}

function isTaken(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'database_taken' || code === 'database_destroyed';
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown } | undefined)?.code;
}
