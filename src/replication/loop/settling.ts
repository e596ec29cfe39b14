import type { Clock } from '../../async/clock.ts';
import { ReplicationError } from '../../errors/replication-error.ts';
import type { ReplicaReport } from '../../protocol/replica-protocol.ts';
import type { Answered, ReplicationStatus, StatusReport } from './replication-status.ts';

/** A replication, as one who waits for a round sees it. */
export interface Settleable {
  /** Requests a round. */
  ask(): Promise<ReplicaReport>;
  readonly report: ReplicaReport | undefined;
  /** What the page that replicates says of itself. */
  readonly reported: StatusReport | undefined;
  readonly status: ReplicationStatus;
  readonly stopped: Error | undefined;
  /** Calls back when the status has changed. @returns a function that ends that. */
  watch(look: () => void): () => void;
}

/**
 * Requests a round, and resolves when one that began since has succeeded.
 *
 * @param timeout In milliseconds.
 * @throws {ReplicationError} `settled_timeout`; what ended the replication; an error that no retry
 *   will mend.
 */
export async function settle(
  sync: Settleable,
  clock: Clock,
  timeout: number | undefined,
): Promise<void> {
  let begun = sync.reported?.begun ?? 0;
  let { asked, opening } = await sync.ask();
  let stop: (() => void) | undefined;
  let cancel: (() => void) | undefined;
  const settling = new Promise<void>((resolve, reject) => {
    const look = () => {
      const { report, reported, status, stopped } = sync;
      if (stopped) reject(stopped);
      else if (countOf(reported?.answered, opening) >= asked) resolve();
      else if (report && report.opening !== opening) {
        // Another engine, which knows nothing of the request.
        opening = report.opening;
        asked = Number.POSITIVE_INFINITY;
        begun = reported?.begun ?? 0;
        sync.ask().then((again) => {
          ({ asked, opening } = again);
          look();
        }, reject);
      } else if (reported && reported.rounds > begun && isHopeless(reported) && status.error)
        reject(status.error);
    };
    const late = () => {
      const { collection: place } = sync.report ?? {};
      const details = { place, cause: sync.status.error };
      const message = `Not settled within ${timeout} ms.`;
      reject(new ReplicationError('settled_timeout', message, details));
    };
    if (timeout !== undefined) cancel = clock.after(timeout, late);
    stop = sync.watch(look);
    look();
  });
  try {
    await settling;
  } finally {
    stop?.();
    cancel?.();
  }
}

/** How many requests of an opening are answered. */
export function countOf(answered: Answered | undefined, opening: string): number {
  return answered?.opening === opening ? answered.count : 0;
}

/** Whether no retry will mend what ended the last round. */
function isHopeless({ state }: StatusReport): boolean {
  return state === 'failed' || state === 'needs_auth';
}
