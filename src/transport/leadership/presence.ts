import type { Locks } from '../platform/platform.ts';
import { presenceName } from './leader-election.ts';

/** Shows that a client is alive: a lock that the browser frees when its page ends, however that comes. */
export class Presence {
  readonly #name: string;
  readonly #locks: Locks;
  #release: (() => void) | undefined;

  constructor(database: string, client: string, locks: Locks) {
    this.#name = presenceName(database, client);
    this.#locks = locks;
  }

  /** Resolves once it shows. */
  begin(): Promise<void> {
    if (this.#release) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const held = new Promise<void>((release) => {
        this.#release = release;
      });
      const request = this.#locks.request(this.#name, {}, () => {
        resolve();
        return held;
      });
      request.catch(reject);
    });
  }

  end(): void {
    this.#release?.();
    this.#release = undefined;
  }
}

/** Calls once a client is not alive any more. Returns what ends the wait. */
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
  // Aborted, or refused in a page that is going away: nobody is left to be told.
  request.catch(() => undefined);
  return () => waiting.abort();
}
