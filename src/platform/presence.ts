import { presenceName } from './lock-names.ts';
import type { Locks } from './platform.ts';

/** Shows that a client lives: a lock that the browser frees when the page ends, by a crash too. */
export class Presence {
  readonly #name: string;
  readonly #locks: Locks;
  #release: (() => void) | undefined;

  constructor(database: string, client: string, locks: Locks) {
    this.#name = presenceName(database, client);
    this.#locks = locks;
  }

  /** Requests the lock. Resolves when it is held; at once where it was requested before. */
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
