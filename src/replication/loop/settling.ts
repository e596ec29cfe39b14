import type { ReplicaReport } from '../../engine/protocol/replica-protocol.ts';
import type { StatusReport } from './replication-status.ts';

/** Where a replication stands, for those who wait for it. */
export interface Standing {
  /** The last report of the engine. */
  readonly report: ReplicaReport | undefined;
  /** Why the replication has ended. */
  readonly stopped: Error | undefined;
  /** The last failure. */
  readonly error: Error | undefined;
  /** Asks for a round. */
  ask(): Promise<ReplicaReport>;
  /** Calls back after each change. @returns a function that stops that. */
  watch(look: () => void): () => void;
}

/**
 * Asks for a round. Resolves when one that began since has succeeded; rejects when the replication ends, or fails in a way
 * that no retry will mend.
 */
export async function settle(standing: Standing): Promise<void> {
  const rounds = toldBy(standing.report)?.rounds;
  let { asked } = await standing.ask();
  let isAsking = false;
  await new Promise<void>((resolve, reject) => {
    const look = () => {
      if (isAsking) return;
      const { report, stopped, error } = standing;
      const told = toldBy(report);
      const hasFailed = told?.rounds !== rounds && isHopeless(told);
      if (stopped) end(() => reject(stopped));
      else if ((told?.answered ?? 0) >= asked) end(resolve);
      else if (hasFailed && error) end(() => reject(error));
      // Another engine counts anew.
      else if (report && report.asked < asked) askAgain();
    };
    const askAgain = () => {
      isAsking = true;
      standing.ask().then((report) => {
        isAsking = false;
        asked = report.asked;
        look();
      }, reject);
    };
    const unwatch = standing.watch(look);
    const end = (settled: () => void) => {
      unwatch();
      settled();
    };
    look();
  });
}

function toldBy(report: ReplicaReport | undefined): StatusReport | undefined {
  return report?.report as StatusReport | undefined;
}

function isHopeless(told: StatusReport | undefined): boolean {
  return told?.state === 'failed' || told?.state === 'needs_auth';
}
