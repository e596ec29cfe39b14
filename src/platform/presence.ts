import { type Announcement, Announcements } from './announcements.ts';
import { presenceName } from './lock-names.ts';
import type { Locks, Platform } from './platform.ts';

/**
 * A client among the tabs of its database. It hears announcements, and shows that it lives: by a
 * lock that the browser frees when the page ends, by a crash too.
 */
export class Presence {
  announcements: Announcements | undefined;
  /** Resolves when the lock is held, which is requested before the leader's. */
  held = Promise.resolve();
  readonly #database: string;
  readonly #client: string;
  readonly #platform: Pick<Platform, 'broadcast' | 'locks'>;
  readonly #hear: (said: Announcement) => void;
  #release: (() => void) | undefined;

  constructor(
    database: string,
    client: string,
    platform: Pick<Platform, 'broadcast' | 'locks'>,
    hear: (said: Announcement) => void,
  ) {
    this.#database = database;
    this.#client = client;
    this.#platform = platform;
    this.#hear = hear;
  }

  /** Rejects where the lock cannot be requested. */
  async begin(): Promise<void> {
    const { broadcast } = this.#platform;
    this.announcements ??= broadcast && new Announcements(this.#database, broadcast, this.#hear);
    if (!this.#release) this.held = this.#request();
    await this.held;
    // The browser has refused the lock: no tab can know that another lives.
    if (!this.#platform.broadcast) this.#leaveAnnouncements();
  }

  end(): void {
    this.#leaveAnnouncements();
    this.#release?.();
    this.#release = undefined;
  }

  #request(): Promise<void> {
    return new Promise((resolve, reject) => {
      const held = new Promise<void>((release) => {
        this.#release = release;
      });
      const name = presenceName(this.#database, this.#client);
      const request = this.#platform.locks.request(name, {}, () => {
        resolve();
        return held;
      });
      request.catch(reject);
    });
  }

  #leaveAnnouncements(): void {
    this.announcements?.close();
    this.announcements = undefined;
  }
}

/** Calls `gone` when a client has ended. Returns a function that stops waiting. */
export function whenGone(
  database: string,
  client: string,
  locks: Locks,
  gone: () => void,
): () => void {
  const waiting = new AbortController();
  const request = locks.request(presenceName(database, client), { signal: waiting.signal }, () => {
    if (!waiting.signal.aborted) gone();
    return undefined;
  });
  // Aborted, or refused in a page that ends: nothing waits for it.
  request.catch(() => undefined);
  return () => waiting.abort();
}

/**
 * Stands for the clients that live where the browser grants locks and does not tell who holds them.
 */
const UNKNOWN_CLIENT = '';

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
