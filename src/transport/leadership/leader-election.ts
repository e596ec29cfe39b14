import type { Clock } from '../../engine/scheduling/clock.ts';
import type { Locks, Platform } from '../platform/platform.ts';

/** Thieves take turns for so long: time enough for the first of them to announce itself. */
const THEFT_MS = 1500;

/** What comes of a candidacy. */
export interface ElectionEvents {
  /** The lead is held. Where stolen, whoever had it may not know yet. */
  readonly granted: (stolen: boolean) => void;
  /** Another has stolen it. */
  readonly lost: () => void;
  readonly failed: (error: unknown) => void;
}

/**
 * The wish to lead a database: one engine per name and origin may write. Whoever holds the lock leads; the others
 * queue for it. The browser passes it on when a page closes or crashes, within 15 to 120 ms. A page that is frozen
 * keeps it; then it has to be stolen.
 */
export class LeaderElection {
  readonly #lock: string;
  readonly #locks: Locks;
  readonly #clock: Clock;
  readonly #events: ElectionEvents;
  /** Ends the request that waits or holds. */
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

  /** Queues for the lead. */
  stand(): void {
    if (!this.#end) this.#request(false);
  }

  /** Takes the lead from whoever holds it, unless somebody else is just about to. */
  steal(): void {
    if (this.#holds) return;
    const theft = this.#locks.request(`${this.#lock}:theft`, { ifAvailable: true }, (free) => {
      if (!free || this.#holds) return undefined;
      this.withdraw();
      this.#request(true);
      return new Promise<void>((resolve) => this.#clock.after(THEFT_MS, resolve));
    });
    theft.catch(this.#events.failed);
  }

  /** Gives up the lead, or the wish for it. */
  withdraw(): void {
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
      this.#events.granted(steal);
      return held;
    });
    request.catch((error: unknown) => {
      if (!isCurrent()) return;
      const held = this.#holds;
      this.#end = undefined;
      this.#holds = false;
      if (held) this.#events.lost();
      // Stolen before it was known to be had.
      else if ((error as { name?: string }).name === 'AbortError') this.stand();
      else this.#events.failed(error);
    });
  }
}

/** Name of the lock that the leader of a database holds. */
function lockName(database: string): string {
  return `cairn:${database}`;
}

/** Name of the lock that a client holds for as long as it lives. */
export function presenceName(database: string, client: string): string {
  return `${lockName(database)}:client:${client}`;
}

/** The clients of a database that are alive. */
export async function livingClients(database: string, locks: Locks): Promise<string[]> {
  const prefix = presenceName(database, '');
  const { held = [] } = await locks.query();
  return held.flatMap(({ name }) => (name?.startsWith(prefix) ? name.slice(prefix.length) : []));
}
