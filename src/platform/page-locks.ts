import type { LockRequest, Locks } from './platform.ts';
import { navigatorObject } from './platform-object.ts';

/** Web Locks where the browser grants them; else locks among the clients of this thread. */
export class PageLocks implements Locks {
  readonly #thread = new ThreadLocks();
  #web: Locks | undefined;
  /** Whether a Web Lock was granted: a later failure is that of a page that ends. */
  #isProven = false;

  constructor(web = navigatorObject('locks') as Locks | undefined) {
    this.#web = web;
  }

  /** Whether the locks exclude other tabs, as far as the first request has told. */
  get areShared(): boolean {
    return this.#web !== undefined;
  }

  request(
    name: string,
    options: LockRequest,
    hold: (lock: unknown) => Promise<unknown> | undefined,
  ): Promise<unknown> {
    const web = this.#web;
    if (!web) return this.#thread.request(name, options, hold);
    const granted = (lock: unknown) => {
      this.#isProven = true;
      return hold(lock);
    };
    // No async function: its turns after a lock run in the back/forward cache, and Chromium evicts
    // the page for them.
    return ask(web, name, options, granted).catch((error: { name?: string }) => {
      if (this.#isProven || error.name === 'AbortError') throw error;
      this.#web = undefined;
      return this.#thread.request(name, options, hold);
    });
  }

  async query(): ReturnType<Locks['query']> {
    return (this.#web ?? this.#thread).query();
  }
}

/** Rejects where the browser throws. */
function ask(web: Locks, ...request: Parameters<Locks['request']>): Promise<unknown> {
  try {
    return web.request(...request);
  } catch (error) {
    return Promise.reject(error);
  }
}

interface Waiting {
  readonly grant: () => void;
}

interface Held {
  /** Rejects the holder's request. */
  readonly steal: () => void;
}

/**
 * Locks among the clients of one thread, where there are no Web Locks: in Node before version 24,
 * in pages on `http://`, and in tests.
 */
export class ThreadLocks implements Locks {
  readonly #held = new Map<string, Held>();
  readonly #queues = new Map<string, Waiting[]>();

  request(
    name: string,
    { signal, ifAvailable, steal }: LockRequest,
    hold: (lock: unknown) => Promise<unknown> | undefined,
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const grant = () => {
        const held: Held = { steal: () => reject(aborted('The lock was stolen.')) };
        this.#held.set(name, held);
        Promise.resolve(hold({ name }))
          .then(resolve, reject)
          .finally(() => {
            if (this.#held.get(name) === held) this.#free(name);
          });
      };
      if (steal) {
        this.#held.get(name)?.steal();
        this.#held.delete(name);
        return grant();
      }
      if (!this.#held.has(name)) return grant();
      if (ifAvailable) {
        Promise.resolve(hold(null)).then(resolve, reject);
        return;
      }
      const waiting = { grant };
      const queue = this.#queues.get(name) ?? [];
      this.#queues.set(name, queue);
      queue.push(waiting);
      signal?.addEventListener('abort', () => {
        const at = queue.indexOf(waiting);
        if (at < 0) return;
        queue.splice(at, 1);
        reject(aborted('The request was aborted.'));
      });
    });
  }

  async query(): Promise<{ held: { name: string }[] }> {
    return { held: Array.from(this.#held.keys(), (name) => ({ name })) };
  }

  #free(name: string): void {
    this.#held.delete(name);
    const next = this.#queues.get(name)?.shift();
    if (next) next.grant();
    else this.#queues.delete(name);
  }
}

function aborted(message: string): Error {
  return Object.assign(new Error(message), { name: 'AbortError' });
}
