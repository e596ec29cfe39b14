import type { ReplicaReport } from '../../engine/protocol/replica-protocol.ts';
import { ReplicationError } from '../../errors/replication-error.ts';
import type { ReplicationLoop } from './replication-loop.ts';
import type { ReplicationStatus, StatusReport } from './replication-status.ts';

/** The status as this page shows it: its own, or that of the page that replicates. */
export function shownStatus(
  loop: Pick<ReplicationLoop, 'state' | 'lastSync' | 'retryAt' | 'error'>,
  report: ReplicaReport | undefined,
  stopped: Error | undefined,
): ReplicationStatus {
  const { pending = 0, rejected = 0 } = report ?? {};
  const { state } = loop;
  const told = state === 'elsewhere' ? (report?.report as StatusReport | undefined) : undefined;
  const error = told?.error && new ReplicationError(told.error.code as never, told.error.message);
  return Object.freeze({
    state,
    ...{ pending, rejected },
    last_sync: dateOf(told ? told.last_sync : loop.lastSync),
    retry_at: dateOf(told ? told.retry_at : loop.retryAt),
    error: stopped ?? (told ? error : loop.error),
  });
}

function dateOf(instant: number | undefined): Date | undefined {
  return instant === undefined ? undefined : new Date(instant);
}
