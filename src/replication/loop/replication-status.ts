import type { Clock } from '../../async/clock.ts';
import type { CairnError } from '../../errors/errors.ts';
import { ReplicationError } from '../../errors/replication-error.ts';
import type { ReplicaReport } from '../../protocol/replica-protocol.ts';
import type { FilesStatus } from '../protocol/files.ts';

/**
 * What a replication does.
 *
 * - `idle`: both sides are equal, as far as is known.
 * - `pulling`, `pushing`: a round is under way.
 * - `offline`: the server cannot be reached; tried again at `retry_at`, and when the network is
 *   back.
 * - `waiting`: the server fails for now, or asks to wait; tried again at `retry_at`.
 * - `needs_auth`: the server wants other credentials; `resume()` tries again.
 * - `failed`: something that a retry will hardly mend, see `error`; tried again at `retry_at` all
 *   the same.
 * - `paused`: by `pause()`.
 * - `elsewhere`: another page of this site replicates; the figures are the same.
 * - `stopped`: by `stop()`, or because the collection was dropped or its client closed.
 */
export type ReplicationState =
  | 'idle'
  | 'pulling'
  | 'pushing'
  | 'offline'
  | 'waiting'
  | 'needs_auth'
  | 'failed'
  | 'paused'
  | 'elsewhere'
  | 'stopped';

/** Where a replication stands. */
export interface ReplicationStatus {
  readonly state: ReplicationState;
  /** Documents with local changes that the server has not got. */
  readonly pending: number;
  /** Documents that the server has refused. */
  readonly rejected: number;
  /**
   * Whether the page asks for changes every 15 seconds, as nothing tells of them: the remote has no
   * `watch`, or other pages keep all connections that may wait.
   */
  readonly polls: boolean;
  /** When both sides were equal last. */
  readonly last_sync: Date | undefined;
  /** When the next attempt is due, after a failure. */
  readonly retry_at: Date | undefined;
  /** The last failure, until a round succeeds. */
  readonly error: CairnError | undefined;
  /** Files that wait in this page; left out without the option `files`. */
  readonly files?: FilesStatus | undefined;
}

/** How many requests for a round are answered, of those of one opening of the collection. */
export interface Answered {
  readonly opening: string;
  readonly count: number;
}

/** What the page that replicates reports to the others, as plain data. */
export interface StatusReport {
  readonly state: ReplicationState;
  readonly last_sync: number | undefined;
  readonly retry_at: number | undefined;
  readonly error: { readonly code: string; readonly message: string } | undefined;
  readonly answered: Answered;
  /** The same, with those for which the last round has failed. */
  readonly tried: Answered;
  readonly polls: boolean;
}

/** The states in which nothing is tried before somebody asks for it. */
export const HALTED: ReadonlySet<ReplicationState> = new Set(['paused', 'stopped', 'elsewhere']);

export function stopped(why: string): ReplicationError {
  return new ReplicationError('replication_stopped', `It does not replicate. ${why}`);
}

/** A replication, as one who waits for a round sees it. */
interface Settleable {
  /** Requests a round. */
  ask(): Promise<ReplicaReport>;
  readonly report: ReplicaReport | undefined;
  /** What the page that replicates says of itself. */
  readonly reported: StatusReport | undefined;
  readonly status: ReplicationStatus;
  readonly stopped: Error | undefined;
  /** Calls back when the status has changed, and now and then. @returns what ends that. */
  watch(look: (isBeat?: boolean) => void): () => void;
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
  let asked = Number.POSITIVE_INFINITY;
  let opening: string | undefined;
  /** How often nobody replicated as it looked. */
  let beats = 0;
  let stop: (() => void) | undefined;
  let cancel: (() => void) | undefined;
  const settling = new Promise<void>((resolve, reject) => {
    const ask = () => {
      sync.ask().then((report) => {
        ({ asked, opening } = report);
        look();
      }, reject);
    };
    const look = (isBeat?: boolean) => {
      const { report, reported, status } = sync;
      if (sync.stopped) reject(sync.stopped);
      else if (countOf(reported?.answered, opening) >= asked) resolve();
      else if (opening && report && report.opening !== opening) {
        // Another engine, which knows nothing of the request.
        opening = report.opening;
        asked = Number.POSITIVE_INFINITY;
        ask();
      } else if (countOf(reported?.tried, opening) >= asked && isHopeless(reported))
        reject(status.error);
      // A page that reloads, or takes over, replicates soon.
      else if (isBeat && HALTED.has(reported?.state ?? 'elsewhere') && beats++ > 0)
        reject(stopped('Call replicate() in each page, or resume().'));
    };
    const late = () => {
      const { collection: place } = sync.report ?? {};
      const details = { place, cause: sync.status.error };
      const message = `Not settled within ${timeout} ms.`;
      reject(new ReplicationError('settled_timeout', message, details));
    };
    if (timeout !== undefined) cancel = clock.after(timeout, late);
    stop = sync.watch(look);
    ask();
  });
  try {
    await settling;
  } finally {
    stop?.();
    cancel?.();
  }
}

/** How many requests of an opening are answered. */
export function countOf(answered: Answered | undefined, opening: string | undefined): number {
  return (answered?.opening === opening && answered?.count) || 0;
}

/** Whether no retry will mend what ended the last round. */
function isHopeless(report: StatusReport | undefined): boolean {
  return report?.state === 'failed' || report?.state === 'needs_auth';
}
