import { retryDelay } from '../../async/retries.ts';
import { asCairnError, type CairnError } from '../../errors/errors.ts';
import { ReplicationError } from '../../errors/replication-error.ts';
import type { ReplicaReport } from '../../protocol/replica-protocol.ts';
import type { Environment } from './platform-environment.ts';
import {
  HALTED,
  type ReplicationState,
  type ReplicationStatus,
  type StatusReport,
  stopped,
} from './replication-status.ts';

/** A remote that does not tell of changes is asked so often, while the page is shown. */
const POLL_MS = 15_000;

/**
 * Local changes wake a replication that waits for a retry, or was too slow for them, at most so
 * often.
 */
const WAKE_MS = 1000;

interface LoopTasks {
  round(enter: (state: 'pulling' | 'pushing') => void, signal: AbortSignal): Promise<void>;
  /**
   * Resolves with `true` when the server may have something new, with `undefined` where nothing
   * tells for now; `undefined` where it cannot tell.
   */
  watch(signal: AbortSignal): Promise<true | undefined> | undefined;
  /** Whether local changes were made faster than the last round could push them. */
  isBehind(): boolean;
  /** Whether local changes wait, as the server accepts them later. */
  isPending(): boolean;
  /** Whether anybody looks: a hidden page alone asks a server no questions. */
  isWatched(): boolean;
  /** Called when the state has changed. */
  changed(): void;
}

/**
 * Runs rounds: after local changes, after the server's, after failures with growing delays.
 *
 * ```
 * elsewhere ──leads──▶ pulling ──▶ pushing ──▶ idle ──change──▶ pulling
 *                         └────failed────▶ offline, waiting, needs_auth, failed ──retry──▶ pulling
 * ```
 */
export class ReplicationLoop {
  state: ReplicationState = 'elsewhere';
  lastSync: number | undefined;
  retryAt: number | undefined;
  error: CairnError | undefined;
  /** Whether nothing has told of changes since the last round. */
  polls = false;
  readonly #tasks: LoopTasks;
  readonly #environment: Environment;
  readonly #isLive: boolean;
  /** One for all: each round ends the watch before it. */
  readonly #begun = new Error('A round begins.');
  /** Ends the round or the watch under way. */
  #running = new AbortController();
  #isBusy = false;
  /** Whether a round is due after the one under way, in any case or for local changes. */
  #isDue = false;
  #hasChanges = false;
  #failures = 0;
  #lastAttempt = Number.NEGATIVE_INFINITY;
  #cancelTimer: (() => void) | undefined;

  constructor(tasks: LoopTasks, environment: Environment, isLive: boolean) {
    this.#tasks = tasks;
    this.#environment = environment;
    this.#isLive = isLive;
  }

  /** This page replicates from now on. */
  start(): void {
    if (!HALTED.has(this.state)) return;
    this.#failures = 0;
    this.#enter('idle');
    this.wake();
  }

  /** Ends what is under way; {@link start} goes on. */
  halt(state: 'paused' | 'stopped' | 'elsewhere'): void {
    this.#endWaiting(stopped('It was stopped or paused.'));
    this.retryAt = undefined;
    this.#enter(state);
  }

  /** A round is due, though not sooner than a moment after one that failed. */
  noteChange(): void {
    if (!this.#isLive) return;
    const { clock } = this.#environment;
    if (this.#failures === 0 || clock.elapsed() - this.#lastAttempt > WAKE_MS) this.nudge();
  }

  /** Runs a round at once, or after the one under way. */
  wake(): void {
    this.#isDue = true;
    this.nudge();
  }

  /** The same, unless the round under way sees all local changes. */
  nudge(): void {
    this.#hasChanges = true;
    if (!this.#isBusy) void this.#run();
  }

  /** The round under way has seen all local changes so far. */
  caughtUp(): void {
    this.#hasChanges = false;
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    this.#isBusy = true;
    while ((this.#isDue || this.#hasChanges) && !HALTED.has(this.state)) {
      this.#isDue = false;
      this.#hasChanges = false;
      this.#endWaiting(this.#begun);
      this.#lastAttempt = this.#environment.clock.elapsed();
      const { signal } = this.#running;
      try {
        await this.#tasks.round((state) => {
          if (!signal.aborted && this.state !== state) this.#enter(state);
        }, signal);
        if (!signal.aborted) this.#succeeded();
      } catch (cause) {
        if (!signal.aborted) this.#failed(asCairnError(cause));
      }
    }
    this.#isBusy = false;
    if (this.state !== 'idle') return;
    if (this.#tasks.isBehind()) this.#after(WAKE_MS);
    if (this.#isLive) this.#waitForChanges();
  }

  #succeeded(): void {
    this.#failures = 0;
    this.error = undefined;
    this.retryAt = undefined;
    this.lastSync = this.#environment.clock.now();
    this.#enter('idle');
  }

  #failed(error: CairnError): void {
    const { clock, random } = this.#environment;
    const { code, retry_after } = error as ReplicationError;
    this.error = error;
    this.#failures++;
    if (code === 'remote_unauthorized') {
      this.retryAt = undefined;
      this.#enter('needs_auth');
      return;
    }
    // Never earlier than the server asked for.
    const delay = (retry_after ?? 0) + retryDelay(this.#failures, random);
    this.retryAt = clock.now() + delay;
    this.#after(delay);
    this.#enter(stateOf(code));
  }

  #waitForChanges(): void {
    const { signal } = this.#running;
    const change = this.#tasks.watch(signal);
    const polled = this.polls;
    this.polls = !change;
    if (!change || this.#tasks.isPending()) this.#poll();
    change?.then(
      (isHeard) => {
        if (signal.aborted) return;
        if (isHeard) return this.wake();
        this.#poll();
        this.polls = true;
        if (!polled) this.#tasks.changed();
      },
      (error: unknown) => {
        if (!signal.aborted) this.#failed(asCairnError(error));
      },
    );
  }

  #poll(): void {
    if (this.#tasks.isBehind()) return;
    this.#after(POLL_MS, () => {
      // A hidden page is woken when it is shown.
      if (this.#tasks.isWatched()) this.wake();
      else this.#poll();
    });
  }

  #after(delay: number, due: () => void = () => this.wake()): void {
    this.#cancelTimer?.();
    this.#cancelTimer = this.#environment.clock.after(delay, due, true);
  }

  #endWaiting(reason: Error): void {
    this.#cancelTimer?.();
    this.#running.abort(reason);
    this.#running = new AbortController();
  }

  #enter(state: ReplicationState): void {
    this.state = state;
    this.#tasks.changed();
  }
}

function stateOf(code: string): ReplicationState {
  switch (code) {
    case 'remote_offline':
    case 'remote_timeout':
    case 'load_failed':
      return 'offline';
    case 'remote_failed':
    case 'checkpoint_moved':
      return 'waiting';
    default:
      return 'failed';
  }
}

/** The status as this page shows it: its own, or that of the page that replicates. */
export function shownStatus(
  loop: Pick<ReplicationLoop, 'state' | 'lastSync' | 'retryAt' | 'error' | 'polls'>,
  report: ReplicaReport | undefined,
  stopped: CairnError | undefined,
): ReplicationStatus {
  const { pending = 0, rejected = 0 } = report ?? {};
  const { state } = loop;
  const reported = state === 'elsewhere' ? (report?.report as StatusReport | undefined) : undefined;
  const error =
    reported?.error && new ReplicationError(reported.error.code as never, reported.error.message);
  return Object.freeze({
    state,
    ...{ pending, rejected, polls: (reported ?? loop).polls },
    last_sync: dateOf(reported ? reported.last_sync : loop.lastSync),
    retry_at: dateOf(reported ? reported.retry_at : loop.retryAt),
    error: stopped ?? (reported ? error : loop.error),
  });
}

function dateOf(instant: number | undefined): Date | undefined {
  return instant === undefined ? undefined : new Date(instant);
}
