import type { Clock } from '../../async/clock.ts';
import { lockName, presenceName } from '../../platform/lock-names.ts';
import type { Locks, Platform } from '../../platform/platform.ts';

/** Time between two steals: enough for the new leader to announce itself. */
const STEAL_MS = 1500;

/** Events of an election. */
export interface ElectionEvents {
  /** The lock is held. The old leader of a stolen lock may not know yet. */
  readonly won: (stolen: boolean) => void;
  /** Another page has stolen the lock. */
  readonly lost: () => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Elects the leader of a database by a Web Lock: one engine per name and origin may write. The page
 * that holds the lock is the leader; the others queue for it. When a page closes or crashes, the
 * browser grants the lock to the next within 15 to 120 ms. A frozen page keeps the lock, so another
 * one has to steal it. docs/decisions/017-tabs.md says why the page holds the lock.
 */
export class LeaderElection {
  readonly #lock: string;
  readonly #locks: Locks;
  readonly #clock: Clock;
  readonly #events: ElectionEvents;
  /** Cancels the request for the lock, or releases it. */
  #end: (() => void) | undefined;
  #holds = false;

  constructor(
    name: string,
    { locks, clock }: Pick<Platform, 'locks' | 'clock'>,
    events: ElectionEvents,
  ) {
    this.#lock = lockName(name);
    this.#locks = locks;
    this.#clock = clock;
    this.#events = events;
  }

  get holds(): boolean {
    return this.#holds;
  }

  /** Queues for the lock. */
  campaign(): void {
    if (!this.#end) this.#request(false);
  }

  /** Steals the lock, unless another page is just doing so. */
  steal(): void {
    if (this.#holds) return;
    const steal = this.#locks.request(`${this.#lock}:steal`, { ifAvailable: true }, (free) => {
      if (!free || this.#holds) return undefined;
      this.resign();
      this.#request(true);
      return new Promise<void>((resolve) => this.#clock.after(STEAL_MS, resolve));
    });
    steal.catch(this.#events.failed);
  }

  /** Releases the lock, or leaves the queue. */
  resign(): void {
    this.#end?.();
    this.#end = undefined;
    this.#holds = false;
  }

  #request(steal: boolean): void {
    const waiting = new AbortController();
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const end = () => {
      waiting.abort();
      release();
    };
    this.#end = end;
    const isCurrent = () => this.#end === end;
    const options = steal ? { steal } : { signal: waiting.signal };
    const request = this.#locks.request(this.#lock, options, () => {
      if (!isCurrent()) return undefined;
      this.#holds = true;
      this.#events.won(steal);
      return held;
    });
    request.catch((error: unknown) => {
      if (!isCurrent()) return;
      const held = this.#holds;
      this.#end = undefined;
      this.#holds = false;
      if (held) this.#events.lost();
      // Stolen before it was granted here.
      else if ((error as { name?: string }).name === 'AbortError') this.campaign();
      else this.#events.failed(error);
    });
  }
}

/**
 * Stands for the clients that live where the browser grants locks and does not tell who holds them.
 */
const UNKNOWN_CLIENT = '';

/** The clients of a database that are alive. */
export async function livingClients(database: string, locks: Locks): Promise<string[]> {
  const prefix = presenceName(database, '');
  const held = await heldLocks(locks);
  if (!held) return [UNKNOWN_CLIENT];
  return held.flatMap(({ name }) => (name?.startsWith(prefix) ? name.slice(prefix.length) : []));
}

/** `undefined` where they are not told: Firefox refuses `query()` to the frames of other sites. */
async function heldLocks(locks: Locks) {
  try {
    const { held = [] } = await locks.query();
    return held;
  } catch {
    return undefined;
  }
}
